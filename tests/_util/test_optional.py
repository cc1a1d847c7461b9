"""Optional libraries, versions and machine; entry points of installed packages."""

from __future__ import annotations

import importlib
import subprocess
import sys
import warnings

import pytest

import vuskit
from vuskit._util import optional
from vuskit._util.optional import (
    EntryPointGroup,
    describe_environment,
    installed_versions,
    is_installed,
    require,
)
from vuskit.datasets import list_formats
from vuskit.datasets.readers import get_format
from vuskit.detectors import get_detector, list_detectors
from vuskit.errors import InvalidInputError, MissingDependencyError, PluginWarning
from vuskit.kernels.backend import core_name
from vuskit.measures import registry, thresholds
from vuskit.studies import get_study, list_studies


def test_missing_library_names_the_install_command():
    assert not is_installed("no_such_library")
    with pytest.raises(MissingDependencyError, match=r'drawing needs no_such.*"vuskit\[x\]'):
        require("no_such_library.part", purpose="drawing", extra="x")


def test_installed_library():
    assert is_installed("json")
    assert require("os.path", purpose="paths").join("a", "b") == "a/b"


def test_environment_names_versions_and_machine():
    found = describe_environment()
    assert found["vuskit"] == vuskit.__version__
    assert found["libraries"]["numpy"]
    assert found["core"] == core_name() == installed_versions()["core"]
    assert found["cpus"] >= 1


# -- entry points ----------------------------------------------------------------------------------

GROUPS = ["measures", "detectors", "readers", "thresholds", "studies"]


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Put distributions on the path."""
    monkeypatch.setattr(registry, "_MEASURES", dict(registry._MEASURES))
    monkeypatch.setattr(thresholds, "_RULES", dict(thresholds._RULES))
    monkeypatch.setattr(optional, "_warned", set())

    def add(distribution, points, **modules):
        folder = tmp_path / distribution
        about = folder / f"{distribution}-2.5.dist-info"
        about.mkdir(parents=True)
        (about / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 2.5\n"
        )
        groups = (f"[vuskit.{group}]\n{lines}\n" for group, lines in points.items())
        (about / "entry_points.txt").write_text("".join(groups))
        for name, code in modules.items():
            (folder / f"{name}.py").write_text(code)
            monkeypatch.delitem(sys.modules, name, raising=False)
        monkeypatch.syspath_prepend(folder)
        importlib.invalidate_caches()

    return add


LOOK_UPS = {
    "measures": vuskit.get_measure,
    "detectors": get_detector,
    "readers": get_format,
    "thresholds": lambda name: vuskit.f_score([0, 1, 0], [1, 3, 2], threshold=name),
    "studies": get_study,
}
LISTS = {
    "measures": vuskit.list_measures,
    "readers": list_formats,
    "thresholds": vuskit.list_threshold_rules,
    "studies": list_studies,
}


@pytest.mark.parametrize("group", GROUPS)
def test_error_names_the_distribution(install, group):
    install("absent-parts", {group: "lost = nowhere_at_all:thing"})
    with pytest.raises(
        InvalidInputError,
        match=rf"'lost' of 'vuskit\.{group}' must be importable, got ModuleNotFoundError: .*"
        r"update or uninstall absent-parts 2\.5",
    ):
        LOOK_UPS[group]("lost")


@pytest.mark.parametrize("group", GROUPS)
def test_wrong_objects_are_refused(install, group):
    install("wrong-things", {group: "five = five_module:FIVE"}, five_module="FIVE = 5\n")
    with pytest.raises(InvalidInputError, match=r"must be a .*, got 5; .* wrong-things 2\.5"):
        LOOK_UPS[group]("five")


@pytest.mark.parametrize("group", LISTS)
def test_lists_leave_a_broken_plugin_out_and_warn_once(install, group):
    before = len(LISTS[group]())
    install("absent-parts", {group: "lost = nowhere_at_all:thing"})
    with pytest.warns(PluginWarning, match="skipped a plug-in: entry point 'lost'"):
        assert len(LISTS[group]()) == before
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LISTS[group]()


def test_detectors_are_listed_without_importing(install):
    install("absent-parts", {"detectors": "lost = nowhere_at_all:Thing"})
    assert "lost" in list_detectors()


MEASURE = """
from vuskit import register_measure

@register_measure(name="plugged", title="Plugged in")
def plugged(y_true, y_score):
    return 0.25
"""


@pytest.mark.parametrize("name", ["plugged", "Plugged in"])
def test_measures_by_name_and_title(install, name):
    install(
        "more-measures", {"measures": "plugged = plugged_module:plugged"}, plugged_module=MEASURE
    )
    assert vuskit.evaluate([0, 1], [0, 1], buffer=0, measures=name).to_dict() == {"plugged": 0.25}


def test_groups_of_the_papers_import_no_plugin(install):
    install(
        "more-measures", {"measures": "plugged = plugged_module:plugged"}, plugged_module=MEASURE
    )
    vuskit.evaluate([0, 1, 1], [0, 1, 2], buffer=0, measures=["paper", "extra"])
    assert "plugged_module" not in sys.modules
    assert "plugged" in vuskit.evaluate([0, 1, 1], [0, 1, 2], buffer=0, measures="all")


def test_our_names_cannot_be_replaced(install):
    install("hostile", {"thresholds": "sigma = fake:rule", "measures": "vus_pr = fake:rule"})
    assert vuskit.get_measure("vus_pr").group == "paper"
    assert vuskit.EvaluationSettings(buffer=1).threshold_text == "sigma"
    vuskit.list_measures()
    vuskit.list_threshold_rules()


def test_a_rule_is_named_with_its_version(install):
    install(
        "more-rules",
        {"thresholds": "lowest = lowest_module:lowest"},
        lowest_module="def lowest(scores):\n    return scores.min()\n",
    )
    assert vuskit.recall([0, 1, 0], [1, 3, 2], threshold="lowest") == 1
    settings = vuskit.EvaluationSettings(buffer=1, threshold="lowest")
    assert str(settings).endswith("threshold=lowest (more-rules 2.5)")
    assert vuskit.EvaluationSettings.from_dict(settings.to_dict()) == settings


def test_one_name_of_two_distributions(install):
    install("first", {"thresholds": "same = same_module:rule"})
    install("second", {"thresholds": "same = same_module:rule"}, same_module="rule = min\n")
    with pytest.raises(InvalidInputError, match=r"got first 2\.5 and second 2\.5; uninstall one"):
        vuskit.EvaluationSettings(buffer=1, threshold="same")


def test_a_plugin_may_list_measures_while_it_is_imported(install):
    code = "import vuskit\nvuskit.list_measures()\n" + MEASURE
    install("eager", {"measures": "plugged = eager_module:plugged"}, eager_module=code)
    assert vuskit.get_measure("plugged").title == "Plugged in"


def test_group_without_entry_points():
    group = EntryPointGroup("vuskit.nothing", "anything", lambda name, loaded: True)
    assert (group.names(), group.load("x"), group.provider("x")) == ((), False, "")


def test_importing_the_package_looks_for_no_entry_points():
    code = "import sys, vuskit; print('importlib.metadata' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
