"""The notebook runs from its first cell to its last, in a kernel of its own, and shows its curve and its replay."""

import warnings
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).parents[1] / "examples" / "first_team.ipynb"


@pytest.mark.slow
def test_the_notebook_runs_and_shows_its_curve_and_its_replay(tmp_path):
    pytest.importorskip("ipykernel")
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    text = NOTEBOOK.read_text()
    assert text.count("300_000") == 1
    notebook = nbformat.reads(text.replace("300_000", "15_000"), as_version=4)
    client = nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Jupyter's own event loops
        client.execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    shown = [output.data for output in outputs if "data" in output]
    assert [kind for data in shown for kind in data if kind.startswith("image/")] == ["image/png"]
    (replay,) = [data for data in shown if "text/html" in data]
    assert replay["text/plain"].startswith("Replay of rover-1")
    assert replay["text/html"].startswith("<iframe ")


def test_the_notebook_is_stored_without_outputs():
    assert '"outputs": []' in NOTEBOOK.read_text()
    assert '"output_type"' not in NOTEBOOK.read_text()
