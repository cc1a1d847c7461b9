"""One name, one meaning: the options of all commands, side by side."""

from __future__ import annotations

import inspect
import re
from collections import defaultdict

import pytest
from cli.tree import LEAVES

import vuskit
from vuskit.parameters import params_of

OPTIONS = [
    (line, option)
    for line, command in LEAVES.items()
    for option in command.params
    if option.param_type_name == "option" and option.name != "help"
]
# Where one name may take two forms, and why.
FORMS = {
    "--output": {"FILE", "FOLDER"},  # some commands write one file, some several
}


def by_name(fact):
    """What is said of each option that several commands have, in which of them."""
    found = defaultdict(lambda: defaultdict(list))
    for line, option in OPTIONS:
        found[option.opts[0]][fact(option)].append(line)
    return {name: dict(said) for name, said in found.items()}


# Beginnings of helps that commands complete, such as "Where to write the page."
BEGINNINGS = {
    "--latex": "Write a LaTeX table",
    "--set": "Set ",
    "--detector": "Detector to ",
    "--measure": "Measures to ",
    "--output": "Where to write ",
    "--seed": "Random seed",
    "--series": "Series to ",
    "--budget": "Time budget",
}


def meaning(option):
    """The beginning of the help, which is the same in all commands."""
    beginning = BEGINNINGS.get(option.opts[0], "?")
    if option.help.startswith(beginning):
        return beginning
    return re.split(r"[;:.]", option.help)[0]


def test_options_of_one_name_mean_one_thing():
    several = {name: said for name, said in by_name(meaning).items() if len(said) > 1}
    # A paper has exhibits, the timing study has algorithms.
    assert set(several) == {"--only"}


def test_options_of_one_name_take_one_kind_of_value():
    for name, said in by_name(lambda option: option.metavar).items():
        assert len(said) == 1 or set(said) == FORMS[name], name
    for name, said in by_name(lambda o: "often" if o.multiple else "once").items():
        assert len(said) == 1 or set(said) == FORMS[name], name


def test_one_parameter_has_one_name():
    names = defaultdict(set)
    for _, option in OPTIONS:
        names[option.name].add(option.opts[0])
    assert {name: found for name, found in names.items() if len(found) > 1} == {}


@pytest.mark.parametrize("line", LEAVES)
def test_every_option_says_what_it_takes(line):
    for of_line, option in OPTIONS:
        if of_line != line:
            continue
        assert option.help, option.name
        assert option.help.endswith((".", "...")), option.name
        # A pair such as --scores/--no-scores names both of its values itself.
        if not option.secondary_opts:
            assert (option.metavar == "") if option.is_flag else option.metavar, option.name
        assert option.multiple == ("repeat" in option.help.lower()), option.name


def test_what_is_written_has_one_name():
    for line, option in OPTIONS:
        if option.name == "output":
            assert option.opts == ["--output", "-o"], line


def test_evaluate_offers_what_the_function_does():
    offered = {option.name for line, option in OPTIONS if line == "evaluate"}
    wanted = set(inspect.signature(vuskit.evaluate).parameters) - {"y_true", "y_score"}
    # Files are evaluated by several processes instead of threads.
    elsewhere = {"measures", "values", "settings", "threads", "interval"}
    elsewhere |= set(params_of(vuskit.EvaluationSettings))
    assert wanted - elsewhere | {"measure", "value"} <= offered


@pytest.mark.parametrize("line", ["evaluate scores", "study scenarios"])
def test_buffers_are_read_alike(command, line):
    outcome = command(*line.split(), "--buffer", "perod")
    assert (outcome.code, outcome.out) == (2, "")
    assert "`--buffer` must be " in outcome.err
    assert "got 'perod'; did you mean 'period'?" in outcome.err


def test_few_options():
    """An option needs a user who looks for it; parameters are given by --set."""
    assert len([option for _, option in OPTIONS if not option.hidden]) < 190
