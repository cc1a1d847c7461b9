"""The documentation as a site: it builds without a warning, holds every public name, and its
pages find everything they show in their own folder."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from report.browser import PATIENCE, expect, low_contrast, running_chromium, scrolls_sideways

ROOT = Path(__file__).parents[2]
pytest.importorskip("mkdocs", reason="the documentation's tools are not installed")

# All names of these modules' ``__all__`` are on a page `docs/reference/KEY.md` or
# `docs/reference/KEY/*.md`.
PUBLIC = {
    "measures": ["vuskit", "vuskit.sql"],
    "datasets": ["vuskit.datasets", "vuskit.datasets.synthetic"],
    "detectors": ["vuskit.detectors"],
    "engine": ["vuskit.engine"],
    "bench": ["vuskit.bench"],
    "studies": [
        "vuskit.studies",
        "vuskit.studies.sensitivity",
        "vuskit.statistics",
        "vuskit.studies.timing",
    ],
    "report": [
        "vuskit.figures",
        "vuskit.report.page",
        "vuskit.report.publication",
    ],
    "paper": ["vuskit.paper"],
    "explore": ["vuskit.explore"],
    "algorithms": ["vuskit.algorithms"],
    "conformance": ["vuskit.conformance"],
    "integrations": ["vuskit.metric", "vuskit.sklearn"],
}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Folder of the built site, and what building it said."""
    folder = tmp_path_factory.mktemp("site")
    outcome = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    return folder, outcome


@pytest.fixture(scope="module")
def site(built):
    return built[0]


def test_site_builds_without_a_warning(built):
    _, outcome = built
    warnings = [line for line in outcome.stderr.splitlines() if "INFO" not in line]
    assert warnings == []
    assert outcome.returncode == 0


class References(HTMLParser):
    """Anchors of a page, what it links to, and what a browser fetches to show it."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.fetched = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.anchors |= {found.get("id"), found.get("name")} - {None}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        if tag in {"img", "script", "iframe", "source"} and found.get("src"):
            self.fetched.append(found["src"])
        if tag == "link" and found.get("rel") not in {"canonical", "prev", "next"}:
            self.fetched.append(found["href"])


@pytest.fixture(scope="module")
def pages(site):
    return {
        page: References(page.read_text(encoding="utf-8"))
        for page in site.rglob("*.html")
        if page.name != "404.html"  # its links start at the root of a server
    }


def test_every_page_of_the_documentation_is_in_the_navigation(site, pages):
    sources = {
        page.relative_to(ROOT / "docs").with_suffix("") for page in ROOT.glob("docs/**/*.md")
    }
    made = {Path("try")}  # written by the hooks
    assert {page.relative_to(site).with_suffix("") for page in pages} == sources | made
    linked = {unquote(urlsplit(link).path) for link in pages[site / "index.html"].links}
    assert {f"{source}.html" for source in sources} <= linked | {"index.html"}


def test_links_and_pictures_lead_somewhere(pages):
    for page, found in pages.items():
        for reference in found.links + found.fetched:
            parts = urlsplit(reference)
            if parts.scheme in {"http", "https", "mailto", "data"}:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            target = target / "index.html" if target.is_dir() else target
            assert target.exists(), (page.name, reference)
            if parts.fragment and target in pages:
                assert unquote(parts.fragment) in pages[target].anchors, (page.name, reference)


def test_nothing_is_fetched_from_the_network(site, pages):
    assert not [one for found in pages.values() for one in found.fetched if urlsplit(one).netloc]
    for sheet in site.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        assert not re.search(r"@import|url\(\s*['\"]?(https?:)?//", text), sheet.name


@pytest.mark.parametrize(
    ("page", "module"), [(page, module) for page, listed in PUBLIC.items() for module in listed]
)
def test_public_names_are_in_the_reference(site, pages, page, module):
    family = [site / "reference" / f"{page}.html", *(site / "reference" / page).glob("*.html")]
    anchors = {anchor for one in family if one in pages for anchor in pages[one].anchors}
    found = importlib.import_module(module)
    # Constants are listed where they have a docstring, which cannot be asked for here.
    names = [name for name in found.__all__ if callable(getattr(found, name))]
    assert names
    assert [name for name in names if f"{module}.{name}" not in anchors] == []


def test_docstrings_show_no_markup_of_other_tools(site):
    for page in (site / "reference").rglob("*.html"):
        assert not re.search(r":(func|class|meth|mod|attr):|\.\. \w+::", page.read_text()), (
            page.name
        )


def test_readme_and_other_top_pages_link_to_what_exists():
    for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            parts = urlsplit(link)
            assert parts.scheme or (ROOT / parts.path).exists(), (name, link)


@pytest.fixture(scope="module")
def browser():
    with running_chromium() as running:
        if running is None:
            pytest.skip("chromium or playwright is not installed")
        yield running


@pytest.fixture
def open_site(site, browser):
    """``open_site(name, scheme)`` shows a page of the site on a phone, ready to be used."""
    contexts = []

    def opened(name, scheme="light", **listeners):
        context = browser.new_context(
            color_scheme=scheme, viewport={"width": 390, "height": 844}, reduced_motion="reduce"
        )
        contexts.append(context)
        context.set_default_timeout(1000 * PATIENCE)
        page = context.new_page()
        for event, listener in listeners.items():
            page.on(event, listener)
        page.goto((site / f"{name}.html").as_uri())
        # The theme's scripts add these when they have started.
        page.locator(".md-code__button").first.wait_for(state="attached")
        return page

    yield opened
    for context in contexts:
        context.close()


def test_search_and_theme_work_from_the_file_system(open_site):
    complaints = []
    page = open_site(
        "index",
        pageerror=lambda error: complaints.append(str(error)),
        console=lambda text: text.type == "error" and complaints.append(text.text),
        request=lambda request: (
            request.url.startswith(("file:", "data:", "blob:")) or complaints.append(request.url)
        ),
    )
    body = page.locator("body")
    before = body.get_attribute("data-md-color-scheme")
    page.locator("label[title]:visible").first.click()
    expect(body).not_to_have_attribute("data-md-color-scheme", before)
    page.locator("label[for=__search]").first.click()
    query = page.locator("[data-md-component=search-query]")
    expect(query).to_be_focused()
    page.keyboard.type("one-sided buffer")
    hits = page.locator(".md-search-result__item a")
    wanted = re.compile("which measure|definitions", re.IGNORECASE)
    expect(hits.filter(has_text=wanted).first).to_be_attached()
    assert complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["index", "definitions", "reference/detectors/classical"])
def test_text_can_be_read(open_site, name, scheme):
    page = open_site(name, scheme)
    assert not scrolls_sideways(page)
    assert low_contrast(page) == []
