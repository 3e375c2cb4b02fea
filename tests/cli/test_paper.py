"""The paper's experiments by name."""

from merlax import cli


def test_the_list_names_figures_that_can_be_asked_for(capsys):
    assert cli.main(["reproduce", "--list"]) == 0
    assert "motivating" in capsys.readouterr().out


def test_what_is_no_experiment_is_refused(refuses):
    refuses(["reproduce", "motivatng"], "did you mean 'motivating'")
    refuses(["reproduce"], "Name a figure")
    refuses(["plot", "nowhere"], "cannot be read")
