"""Keys of kept factors: every field of a recipe and every option of reading counts, and functions
are never kept.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import steelyard as sy
from steelyard.identification import SDP, WLS
from steelyard.identification.model.known import KnownFunction
from steelyard.identification.model.linear_model import Model, build_model
from steelyard.identification.model.model_options import ModelOptions
from steelyard.identification.model.own_rows import equality_rows_of, prior_rows_of
from steelyard.identification.observations.base_wrenches import BASE_WRENCHES
from steelyard.identification.options import IdentifyArguments
from steelyard.identification.out_of_core import fold_spec as recipes
from steelyard.identification.out_of_core.fold_spec import FoldSpec, shared_copy
from steelyard.identification.out_of_core.out_of_core_thresholds import THRESHOLDS
from steelyard.identification.result.provenance import digest
from steelyard.identification.samples.preparation import Preparation
from steelyard.signals import to_npz
from steelyard.signals.clean.correction import Correction
from steelyard.signals.clean.transmission import Transmission
from steelyard.signals.read.mapping import Mapping
from steelyard.signals.read.read_log import read_log
from steelyard.signals.schema import Payload
from tests.archive.archives import identified, small_arm, wave_log, write_logs
from tests.keys.variations import variations, with_field

ARM = small_arm()


@pytest.fixture(autouse=True)
def every_size_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(vars(THRESHOLDS), "bytes_in_memory", 0)


def recipe(model: Model | None = None) -> FoldSpec:
    return FoldSpec(ARM, model or build_model(ARM), Preparation(), np.zeros(2), np.ones(2), 0.04)


@dataclass(frozen=True)
class Spring:
    """A torque that cannot be traced: it looks into a table."""

    stiffness: float

    def __call__(self, q: Any, qd: Any, qdd: Any) -> Any:
        table = np.linspace(-5.0, 5.0, 1001) * self.stiffness
        return table[np.clip(np.round((np.asarray(q, float) + 5.0) * 100.0), 0, 1000).astype(int)]


# recipes
# --------------------------------------------------------------------------------------------------


def test_every_field_of_a_recipe_of_its_model_and_of_its_preparation_is_in_the_key() -> None:
    """Leaf by leaf; fields that are added later come by themselves."""
    base = recipe()
    keys = {base.key}
    count = 0
    changed: dict[str, Any] = {
        "robot": [ARM.with_gravity((0.0, -1.0, 0.0))],
        "model": [
            *(with_field(base.model, name, value) for name, value in model_values().items()),
            *(
                replace(base.model, robot=ARM.with_friction(**{term: 3.0}))
                for term in ("viscous", "coulomb", "offset")
            ),
        ],
        "preparation": [other for _, other in variations(base.preparation)],
        "delay": [np.array([0.0, 1e-3]), np.zeros(3)],
        "gains": [np.array([1.0, 1.1])],
        "interval": [0.05],
    }
    assert set(changed) == {f.name for f in fields(FoldSpec) if f.compare}
    assert set(model_values()) == {
        f.name for f in fields(Model) if f.name not in ("robot", "known")
    }
    for name, others in changed.items():
        for other in others:
            keys.add(changed_key(base, name, other))
            count += 1
    assert None not in keys
    assert len(keys) == count + 1


def changed_key(base: FoldSpec, name: str, value: Any) -> str | None:
    result = (
        replace(base, **{name: value}) if name != "preparation" else with_preparation(base, value)
    )
    # a key does not depend on whether a value makes sense
    result.__dict__.update(columns=base.columns, reach=base.reach)
    return result.key


def with_preparation(base: FoldSpec, value: Any) -> FoldSpec:
    changed = replace(base)
    object.__setattr__(changed, "preparation", value)
    return changed


def model_values() -> dict[str, Any]:
    """Another value of each field of a model that has a digest."""
    bodies = tuple(body.inertia for body in ARM.tree.bodies)
    names = ARM.parameter_names
    return {
        "held": ((0, 1.0),),
        "bounds": {"total_mass": (1.0, 2.0)},
        "total_mass": 3.0,
        "load": bodies,
        "moving": True,
        "observation": BASE_WRENCHES,
        "own_prior": prior_rows_of({"link1.m": (1.0, 0.1)}, names, names),
        "equalities": equality_rows_of(({"link1.m": 1.0}, 1.0), names, names),
    }


def test_columns_and_source_code_and_versions_are_in_the_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keys = {recipe().key}
    for name, value in {"columns": (0, 1), "reach": ((0,), (1,))}.items():
        result = recipe()
        result.__dict__[name] = value
        keys.add(result.key)
    for name, other in {
        "sources": lambda *_: "other code",
        "reader_versions": lambda: (("polars", "0"),),
    }.items():
        with monkeypatch.context() as patch:
            patch.setattr(recipes, name, other)
            keys.add(recipe().key)
    with monkeypatch.context() as patch:
        patch.setattr(recipes.scipy, "__version__", "0")
        keys.add(recipe().key)
    assert len(keys) == 6
    monkeypatch.setattr(recipes, "sources", lambda *_: None)
    assert recipe().identity == (None, "source files have changed since the start")


def test_equal_keys_mean_equal_factors() -> None:
    """Recipes with the same content have one key and one factor.

    Those with another content have other factors, and other keys.
    """
    log = wave_log(3, 200)
    outcomes = [
        recipe(),
        recipe(),
        recipe(build_model(ARM, ModelOptions(hold=("joint1.Fv",)))),
        replace(recipe(), interval=0.08),
    ]
    outcomes += [
        replace(recipe(), gains=np.array([1.0, 1.5])),
        replace(recipe(), preparation=Preparation(mask=0.3)),
    ]
    results: dict[str | None, set[bytes]] = {}
    for each in outcomes:
        factors = each.problem(log).accumulate(2)
        results.setdefault(each.key, set()).add(
            b"".join(R.tobytes() for part in factors for R in part.factors)
        )
    assert all(len(result) == 1 for result in results.values())
    assert len(results) == 5
    assert len({next(iter(result)) for result in results.values()}) == 5


def test_a_function_has_no_key_and_recipes_with_one_are_told_apart() -> None:
    results = [
        recipe(replace(build_model(ARM), known=KnownFunction(Spring(k)))) for k in (1.0, 2.0)
    ]
    assert [each.key for each in results] == [None, None]
    assert "Spring" in results[0].identity[1]
    assert shared_copy(results[0]) is not shared_copy(results[1])


def test_workers_share_copies_of_one_recipe_and_nothing_else() -> None:
    one, other = recipe(), recipe()
    assert one.key == other.key
    a, b = (pickle.loads(pickle.dumps(one)) for _ in range(2))
    assert shared_copy(a) is shared_copy(b)
    assert shared_copy(other) is not shared_copy(a)


def test_a_worker_that_finds_other_columns_says_so() -> None:
    result = recipe()
    result.__dict__["columns"] = (0, 1, 2)
    with pytest.raises(sy.ProblemError, match="same versions"):
        result.problem(wave_log(3, 200))


@pytest.mark.filterwarnings("ignore:.*known torque")
@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("executor", [None, 2])
def test_a_fleet_with_a_spring_is_not_the_fleet_without(
    keep: bool, executor: int | None, tmp_path: Path
) -> None:
    """A known torque that cannot be traced, after a run without it and after one with another, in
    one process.
    """
    logs = {f"arm{k}": write_logs(tmp_path / f"{k}", 2, 300) for k in range(3)}
    options: dict[str, Any] = {
        "diagnose": False,
        "friction": ("viscous", "coulomb"),
        "delay": 0.0,
        "coulomb_width": 0.0,
        "decimate": 1,
    }
    options |= {"executor": executor, "keep": keep}
    seen = [
        sy.identify_fleet(ARM, logs, **options, known=known).base_values
        for known in (None, Spring(20.0), Spring(40.0))
    ]
    fresh = sy.identify_fleet(
        ARM, logs, **(options | {"keep": False, "executor": None}), known=Spring(20.0)
    ).base_values
    assert np.abs(seen[1] - seen[0]).max() > 0.1
    assert np.abs(seen[2] - seen[1]).max() > 0.1
    np.testing.assert_array_equal(seen[1], fresh)
    again = sy.identify_fleet(ARM, logs, **options, known=Spring(20.0))
    np.testing.assert_array_equal(again.base_values, fresh)
    assert (" neither read nor stored" in " ".join(again.type.status)) == keep


# reading
# --------------------------------------------------------------------------------------------------

# values of every option of reading, of which each reads other numbers from the file
READING: dict[str, list[Any]] = {
    "columns": [{"tau": ["current1", "current2"]}],
    "joints": [("joint2", "joint1")],
    "effort": ["torque", "current"],
    "rate": [50.0],
    "time_unit": ["ms"],
    "angle": ["deg"],
    "layout": ["t q tau"],
    "topic": ["/joints"],
    "transmission": [
        Transmission.of(ratio=[2.0, 3.0]),
        Transmission.of(ratio=[2.0, 4.0]),
        Transmission.of(ratio=[2.0, 3.0], sign=[1, -1]),
    ],
    "correction": [
        Correction.of(gain=[1.0, 2.0]),
        Correction.of(gain=[1.0, 3.0]),
        Correction.of(gain=[1.0, 2.0], clock=2.0),
    ],
    "mapping": [
        {"effort": "torque"},
        {"angle": "deg"},
        Mapping(angle="deg", rate=10.0),
        Transmission.of(ratio=[5.0, 3.0]),
    ],
    "clean": [False, True],
}


def test_every_option_of_reading_is_in_the_digest(tmp_path: Path) -> None:
    file = str(write_logs(tmp_path, 1, 60)[0])
    options = {f.name for f in fields(Mapping) if f.name != "files"} | {"mapping", "clean"}
    assert set(READING) == options, "options of read_log"
    tried = [(), *(((name, value),) for name, values in READING.items() for value in values)]
    assert len({sy.LogFile(file, options=each).digest() for each in tried}) == len(tried)
    parameters = set(read_log.__kwdefaults__ or ()) | {"robot", "mapping", "effort", "path"}
    assert parameters <= {
        "clean",
        "rows",
        "robot",
        "mapping",
        "effort",
        "path",
    }, "arguments of read_log that are not tried"


def test_every_leaf_of_what_a_file_is_read_with_is_in_the_digest(tmp_path: Path) -> None:
    file = str(write_logs(tmp_path, 1, 60)[0])
    whole = Mapping(
        columns={"tau": ("a", "b")},
        joints=("a", "b"),
        transmission=Transmission.of(ratio=[1.0, 2.0]),
        correction=Correction.none(2),
    )
    results = [
        sy.LogFile(file, options=(("mapping", other),)).digest() for _, other in variations(whole)
    ]
    assert sy.LogFile(file, options=(("mapping", whole),)).digest() not in results
    assert len(set(results)) > 0.9 * len(results)


def test_a_mapping_counts_by_its_content(tmp_path: Path) -> None:
    file, mapping = str(write_logs(tmp_path, 1, 60)[0]), tmp_path / "run.mapping.toml"
    seen = set()
    for text in ('angle = "rad"\n', 'angle = "deg"\n', 'effort = "torque"\n'):
        mapping.write_text(text)
        seen |= {
            sy.LogFile(file, options=(("mapping", kind(mapping)),)).digest() for kind in (str, Path)
        }
    assert len(seen) == 3


def test_a_log_of_several_files_counts_by_all_of_them(tmp_path: Path) -> None:
    log = wave_log(0, 50)
    np.savetxt(
        tmp_path / "q.csv",
        np.column_stack([log.t, log.q]),
        delimiter=",",
        header="t,q1,q2",
        comments="",
    )
    np.savetxt(
        tmp_path / "tau.csv",
        np.column_stack([log.t, log.tau]),
        delimiter=",",
        header="t,tau1,tau2",
        comments="",
    )
    (tmp_path / "run.toml").write_text('files = ["q.csv", "tau.csv"]\n')
    file = sy.LogFile(str(tmp_path / "run.toml"))
    before = file.digest()
    text = (tmp_path / "tau.csv").read_text()
    (tmp_path / "tau.csv").write_text(text.replace("1", "2"))
    assert file.digest() != before
    (tmp_path / "tau.csv").write_text(text)
    assert file.digest() == before


def test_a_folder_counts_by_names_and_contents(tmp_path: Path) -> None:
    seen = set()
    for k, (one, other) in enumerate([("ab", "c"), ("a", "bc"), ("c", "ab"), ("abc", "")]):
        folder = tmp_path / str(k)
        folder.mkdir()
        (folder / "metadata.yaml").write_text(one)
        (folder / "bag.db3").write_text(other)
        seen.add(sy.LogFile(str(folder)).digest())
    assert len(seen) == 4


def test_an_option_that_cannot_be_compared_is_refused(tmp_path: Path) -> None:
    file = str(write_logs(tmp_path, 1, 60)[0])
    with pytest.raises(sy.LogError, match="cannot be compared"):
        sy.LogFile(file, options=(("columns", {"tau": lambda: 1}),)).digest()


def test_every_field_of_a_log_in_memory_is_in_its_digest() -> None:
    log = replace(wave_log(0, 20), payload=Payload(1.0), current=np.ones((20, 2)))
    tried = list(variations(log))
    assert digest(log) not in {digest(other) for _, other in tried}
    assert digest(replace(log, source="elsewhere", remarks=("read",))) == digest(log)


def test_other_options_of_reading_fold_again(tmp_path: Path) -> None:
    """The same files with another correction: other numbers, and those of files read again."""
    for k in range(9):
        to_npz(wave_log(k, 300), tmp_path / f"run{k}.npz")
    options: dict[str, Any] = {
        "friction": ("viscous", "coulomb"),
        "delay": 0.0,
        "coulomb_width": 0.0,
        "decimate": 1,
        "estimator": "wls",
    }
    plain = identified(sy.find_logs(tmp_path), keep=True, **options)
    doubled = {"correction": Correction.of(gain=[2.0, 2.0])}
    other = identified(sy.find_logs(tmp_path, **doubled), keep=True, **options)
    fresh = identified(sy.find_logs(tmp_path, **doubled), keep=False, **options)
    assert other.archive.reused == 0
    np.testing.assert_array_equal(other.base_values, fresh.base_values)
    np.testing.assert_allclose(other.base_values, 2.0 * plain.base_values, rtol=1e-6, atol=1e-9)
    assert identified(sy.find_logs(tmp_path), keep=True, **options).archive.reused == 9


# values of every option of identification that differ in what they fold or in what they estimate
IDENTIFYING: dict[str, list[Any]] = {
    "bounds": [{"total_mass": (0.0, 1e3)}, {"total_mass": (0.0, 1.0)}],
    "constraints": [[({"joint1.Fv": 1.0}, 0.6)], [({"joint1.Fv": 1.0}, 0.9)]],
    "coulomb_width": [0.0, 0.2],
    "coupling": [()],
    "cutoff": [5.0, 8.0],
    "decimate": [1, 3],
    "delay": [0.0, 0.005],
    "drive_gains": [None],
    "estimator": [
        SDP(prior_weight={"link1": 1.0, "link2": 10.0}),
        SDP(prior_weight={"link1": 100.0, "link2": 10.0}),
        WLS(weights=[1.0, 5.0]),
        WLS(weights=[5.0, 1.0]),
    ],
    "friction": [("viscous", "coulomb"), ("viscous", "coulomb", "presliding")],
    "gear_ratio": [None],
    "hold": [("joint1.Fv",), {"joint1.Fv": 0.2}],
    "known": [None],
    "known_mass": [5.0, 9.0],
    "mask": [0.1, 0.3],
    "model": [ModelOptions(), ModelOptions(hold=("joint2.Fv",))],
    "parameter_prior": [{"link1.m": (1.0, 0.1)}, {"link1.m": (3.0, 0.1)}],
    "period": [None],
    "preparation": [Preparation(mask=0.2), Preparation(smoothing="kalman")],
    "prior": ["none"],
    "rotor": [True],
    "smoothing": ["kalman", None],
    "torque_scale_std": [0.0, 0.2],
}
NEEDED: dict[str, dict[str, Any]] = {"cutoff": {"smoothing": "butterworth"}}
# examines the pilot; refused for archives
IN_MEMORY = {"diagnose", "controller", "elastic", "residual"}


def test_kept_factors_give_what_fresh_ones_give(tmp_path: Path) -> None:
    """With every option at several values, in one store and in both orders."""
    assert set(IDENTIFYING) == set(IdentifyArguments.__annotations__) - IN_MEMORY
    write_logs(tmp_path, 2, 400)
    logs = sy.find_logs(tmp_path)
    tried = [
        {name: value, **NEEDED.get(name, {})}
        for name, values in IDENTIFYING.items()
        for value in values
    ]
    fresh = [outcome(logs, keep=False, **options) for options in tried]
    assert sum(isinstance(each, bytes) for each in fresh) > 0.8 * len(tried), fresh
    assert len(set(fresh)) > 0.6 * len(tried)
    for order in (1, -1):
        stored = [outcome(logs, keep=True, **options) for options in tried[::order]][::order]
        assert [a == b for a, b in zip(stored, fresh, strict=True)] == [True] * len(tried)


@pytest.mark.parametrize("executor", [None, 2])
def test_kept_factors_of_a_fleet_give_what_fresh_ones_give(
    executor: int | None, tmp_path: Path
) -> None:
    """Two values of each option that changes the estimate, after each other, in one store."""
    logs = {f"arm{k}": write_logs(tmp_path / f"{k}", 2, 300) for k in range(3)}
    tried = [
        {name: value}
        for name in ("mask", "parameter_prior", "constraints", "estimator", "friction")
        for value in IDENTIFYING[name][:2]
    ]
    values = [
        [
            sy.identify_fleet(
                ARM, logs, diagnose=False, keep=keep, executor=executor if keep else None, **options
            ).base_values.tobytes()
            for options in tried
        ]
        for keep in (False, True, True)
    ]
    assert values[0] == values[1] == values[2]
    assert len(set(values[0])) == len(tried)


def outcome(logs: Any, **options: Any) -> bytes | str:
    """The parameters of an archive's fit, or the error of options that do not fit to it."""
    try:
        fit = identified(logs, **options)
    except sy.SteelyardError as error:
        return str(error)
    assert fit.archive is not None
    return fit.parameters.tobytes() + fit.parameters_std.tobytes()


def test_other_bounds_fold_nothing_again(tmp_path: Path) -> None:
    files = write_logs(tmp_path, 9, 300)
    first = identified(files, keep=True)
    bounded = identified(files, keep=True, bounds={"total_mass": (0.0, 1e3)})
    assert (first.archive.reused, bounded.archive.reused) == (0, 9)
