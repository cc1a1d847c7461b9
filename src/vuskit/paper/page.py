"""The page of a reproduction: contents, findings, exhibits with captions, and settings."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

from vuskit._util.text import plural
from vuskit.paper.files import MadeExhibit
from vuskit.paper.findings import FindingTable, Verdict
from vuskit.paper.settings_text import SettingsText
from vuskit.report.page.document import Section, element, page_document, wrapped
from vuskit.report.page.studies import STUDY_ASSETS, measures_of
from vuskit.studies import PublishedComparison


def paper_page_html(
    title: str,
    made: Sequence[MadeExhibit],
    findings: FindingTable,
    *,
    about: str = "",
    notes: Sequence[str] = (),
    settings: Sequence[SettingsText] = (),
    published: PublishedComparison | None = None,
) -> str:
    """Return the page as an HTML document."""
    figures = [
        {**figure, "name": _place(one, place)}
        for one in made
        if one.page is not None
        for place, figure in enumerate(one.page["figures"])
    ]
    data = {**measures_of(figures), "figures": figures, "tables": []}
    parts = [
        f"<header>{element('h1', title)}{element('p', about) if about else ''}</header>",
        _contents(made, published, settings),
        _findings(findings),
        _notes(notes),
        _published(published),
        '<div class="legend"></div>',
        *map(_exhibit, made),
        _settings(settings),
    ]
    section = Section("paper", "study", title, "\n".join(parts), data, (*STUDY_ASSETS, "paper.css"))
    return page_document(title, [section])


def _place(one: MadeExhibit, place: int) -> str:
    return f"{one.exhibit.key}-{place}"


def _contents(
    made: Sequence[MadeExhibit],
    published: PublishedComparison | None,
    settings: Sequence[SettingsText],
) -> str:
    """Table of contents: findings, figures, tables and settings; missing exhibits are marked."""
    items = ['<li><a href="#findings">Findings: the paper and this data compared</a></li>']
    if published is not None:
        items.append('<li><a href="#published">Published values and values of this data</a></li>')
    for one in made:
        text = html.escape(f"{one.exhibit.label}: {one.exhibit.title}")
        missing = "" if one.made else ' <span class="quiet">(not made)</span>'
        items.append(f'<li><a href="#{one.exhibit.key}">{text}</a>{missing}</li>')
    if settings:
        items.append('<li><a href="#settings">Settings</a></li>')
    return f'<nav class="contents" aria-label="Contents"><ol>{"".join(items)}</ol></nav>'


def _findings(findings: FindingTable) -> str:
    names = ("paper", "criterion", "here", "verdict")
    titles = ("the paper states", "criterion", "measured here", "verdict")
    head = element("th", "", scope="col")
    head += "".join(element("th", title, scope="col", class_="words") for title in titles)
    head += element("th", "series", scope="col")
    rows = "".join(
        "<tr>"
        + element("th", str(one.number), scope="row")
        + element("td", f"{one.paper} ({one.place})", class_="words", data_label=names[0])
        + element("td", one.criterion, class_="words", data_label=names[1])
        + element("td", one.details, class_="words", data_label=names[2])
        + element("td", one.judged, class_=_verdict_class(one.verdict), data_label=names[3])
        + element("td", f"{one.n_series:,}" if one.n_series else "\N{EN DASH}", data_label="series")
        + "</tr>"
        for one in findings.findings
    )
    table = f'<table class="findings"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
    return (
        '<section id="findings" aria-labelledby="h-findings">'
        f'<div class="head">{element("h2", "Findings", id="h-findings")}'
        f"{_downloads(('findings.csv', 'findings.md', 'findings.tex'))}</div>"
        f"{element('p', f'{findings.counts.capitalize()}.', class_='quiet')}"
        f"{wrapped(table, 'Findings')}</section>"
    )


def _verdict_class(verdict: Verdict) -> str:
    return f"verdict {verdict.replace(' ', '-')}"


def _notes(notes: Sequence[str]) -> str:
    if not notes:
        return ""
    items = "".join(element("li", f"{note[:1].upper()}{note[1:].rstrip('.')}.") for note in notes)
    return (
        '<section id="notes" aria-labelledby="h-notes">'
        f"{element('h2', 'Notes', id='h-notes')}<ul>{items}</ul></section>"
    )


def _settings(settings: Sequence[SettingsText]) -> str:
    if not settings:
        return ""
    parts = ""
    for one in settings:
        items = "".join(element("li", text) for text in one.sentences)
        parts += f"{element('h3', one.heading)}<ul>{items}</ul>"
    return f'<details id="settings" class="settings"><summary>Settings</summary>{parts}</details>'


def _published(found: PublishedComparison | None) -> str:
    if found is None:
        return ""
    files = [f"published-means.{form}" for form in ("csv", "md", "tex")]
    files += [f"published-{name}.csv" for name in ("means-over-datasets", "agreement", "cells")]
    return (
        '<section id="published" class="exhibit" aria-labelledby="h-published">'
        f'<div class="head">{element("h2", "Published values", id="h-published")}'
        f"{_named_downloads(files)}</div>{wrapped(found.to_html(), 'Published values')}</section>"
    )


def _named_downloads(files: Sequence[str]) -> str:
    links = " ".join(
        f'<a href="{html.escape(name)}" download>{html.escape(name)}</a>' for name in files
    )
    return f'<span class="downloads" role="group" aria-label="Files">{links}</span>'


def _exhibit(one: MadeExhibit) -> str:
    key = one.exhibit.key
    heading = element("h2", f"{one.exhibit.label}. {one.exhibit.title}", id=f"h-{key}")
    head = f'<div class="head">{heading}{_downloads(one.files)}</div>'
    if one.page is None:
        body = element("p", f"Not made: {one.reason}.", class_="reason")
    else:
        body = element("p", one.caption, class_="caption")
        body += "".join(
            _figure(_place(one, place), figure) for place, figure in enumerate(one.page["figures"])
        )
        if one.page["table"]:
            body += wrapped(one.page["table"], one.exhibit.title)
    return f'<section id="{key}" class="exhibit" aria-labelledby="h-{key}">{head}{body}</section>'


def _figure(name: str, figure: dict[str, Any]) -> str:
    heading = element("h3", figure["heading"]) if figure["heading"] else ""
    return f'{heading}<div id="figure-{name}" class="panels"></div>'


def _downloads(files: Sequence[str]) -> str:
    """Links to the files of one exhibit."""
    if not files:
        return ""
    order = {"pdf": 0, "png": 1, "tex": 2, "md": 3, "csv": 4}
    # The first part has the shortest name: "fig-08-quality" comes before "fig-08-quality-b".
    names = sorted(files, key=lambda name: (order.get(_form(name), 9), len(name), name))
    links = " ".join(
        f'<a href="{html.escape(name)}" download>{html.escape(_form(name))}'
        f"{_letter(name, names)}</a>"
        for name in names
    )
    label = plural(len(names), "file")
    return f'<span class="downloads" role="group" aria-label="{label}">{links}</span>'


def _form(name: str) -> str:
    return name.rpartition(".")[2]


def _letter(name: str, names: Sequence[str]) -> str:
    """Return the letter of a part, if several files have the same format."""
    stem, _, form = name.rpartition(".")
    same = [one for one in names if one.endswith(f".{form}")]
    if len(same) == 1:
        return ""
    shortest = min(len(one) for one in same) - len(form) - 1
    return " a" if len(stem) == shortest else f" {stem[-1]}"
