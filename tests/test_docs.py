"""Pages lead somewhere: every link between files of this repository, and nothing that needs a network."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "champions" / "README.md"])
LINK = re.compile(r"\]\(([^()\s]+)\)|(?:src|data|href)=\"([^\"]+)\"")
SNIPPET = re.compile(r"^--8.*$", re.MULTILINE)
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def links(page: Path) -> list[str]:
    found = ["".join(pair) for pair in LINK.findall(FENCE.sub("", page.read_text()))]
    return [link for link in found if not link.startswith(("https://", "../replays/"))]  # these `make docs` makes


def anchors(page: Path) -> set[str]:
    """What the headings of a page are called in links."""
    titles = re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text()), re.MULTILINE)
    words = [re.sub(r"[^\w\s-]", "", title.lower()).strip() for title in titles]
    return {re.sub(r"\s+", "-", word) for word in words}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page):
    for link in links(page):
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        assert target.exists(), f"{link} in {page}"
        assert not anchor or target.suffix != ".md" or anchor in anchors(target), f"{link} in {page}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_includes_exists(page):
    for line in SNIPPET.findall(page.read_text()):
        name = re.fullmatch(r'--8<-- "([^"]+)"', line)
        assert name, f"{line} in {page}"
        assert (ROOT / name[1]).exists(), f"{line} in {page}"


def test_every_page_is_in_the_navigation():
    navigation = (ROOT / "mkdocs.yml").read_text().partition("\nnav:")[2]
    pages = {str(page.relative_to(ROOT / "docs")) for page in PAGES if page.is_relative_to(ROOT / "docs")}
    assert set(re.findall(r"[\w/-]+\.md", navigation)) == pages


def test_every_public_name_is_in_the_reference():
    import merlax

    reference = "".join(page.read_text() for page in (ROOT / "docs").rglob("*.md"))
    described = {path.rsplit(".", 1)[-1] for path in re.findall(r"^::: ([\w.]+)", reference, re.MULTILINE)}
    renamed = {"register_algorithm": "register"}
    assert not [name for name in merlax.__all__ if renamed.get(name, name) not in described]


def test_the_site_loads_nothing_from_a_network():
    for name in ("mkdocs.yml", "docs/assets/site.css", "docs/assets/math.js", "docs/assets/katex/katex.min.css"):
        assert not re.search(r"https?:|url\(//", (ROOT / name).read_text()), name


def test_films_are_small():
    assert sum(path.stat().st_size for path in (ROOT / "docs/images/wall").glob("*.gif")) < 2_000_000


def test_what_plays_on_a_page_is_what_the_build_makes_of_a_champion():
    made = re.findall(r'^    "([\w-]+)": Shown', (ROOT / "docs/tools/replays.py").read_text(), re.MULTILINE)
    played = [name for page in PAGES for name in re.findall(r'data="\.\./replays/([\w-]+)\.html"', page.read_text())]
    assert sorted(played) == sorted(made)
    assert all((ROOT / "champions" / name).is_dir() for name in made)
