"""Mutants that change no behaviour, by name, each with the reason."""

from __future__ import annotations

SOURCE = "src/steelyard/"
# fmt: off
REASONS = {
    "dynamics/forward/aba.py:net_torque swapped arguments: net, wrench_torque(tree, q, wrench) -> wrench_torque(tree, q, wrench), net":
        "both are added",
    "dynamics/coriolis.py:coriolis_matrix swapped arguments: rigid, spin -> spin, rigid": "both are added",
    "dynamics/joint.py:oblique function: any -> all": "if the cosine is 0 or 1 so is the sine, up to its sign",
    "simulation/dry_friction.py:struck constant: 1.0 -> 2.0 #4": "it divides an impulse that is zero",
    "signals/smooth/likelihood.py:search_uneven constant: 1.5 -> 3.0": "the search is wider by steps that are not the best",
    "identification/friction/term_search.py:description function: np.sqrt -> np.square": "a scale that is divided out again",
    "identification/estimators/cone.py:unconstrained constant: 1.0 -> 2.0 #2": "it divides a column of zeros",
    "mechanism/formats/urdf/loop_elements.py:_with_z constant: 1.0 -> 2.0":
        "for z itself the rotation that follows is the identity",
    "motion/inverse_kinematics/numerical.py: constant: 256 -> 513": "it changes the time, not the result",
    "mechanism/joint_terms.py: sign: -math.inf -> (math.inf) #3": "a bound is one only if it is finite",
    "mechanism/formats/inertial.py: missing ingredient: float, Vector, Symmetric -> (float, Vector)": "a type, not asked at run time",
    "identification/estimators/simulated/simulated_states.py:is_slow constant: 1 -> 3": "NumPy takes any negative number for the remaining size",
    "experiments/payload_identification/controller_load.py:_nearest function: size[[0, 1, 2], order].sum -> size[[0, 1, 2], order].mean":
        "the largest sum is the largest mean",
    "compiler/runtime/threads.py:in_parallel.run constant: 1 -> 3 #2": "blocks of another length have the same results",
    "identification/model/bounds.py:physical_limits sign: -row.least -> (row.least)": "the only bound that is finite is zero",
    "identification/model/joint_terms.py:structural constant: 0.0 -> 1.0": "a Stribeck velocity without stiction is in no column",
    'closed_form/build.py:NamedTerms._gets_a_name missing ingredient: ("lt", "le", "neg") -> ("lt", "le")':
        "a negated expression has a name or is not a sum: the terms of all robots are the same",
}
# fmt: on
JUSTIFIED = {f"{SOURCE}{name}": reason for name, reason in REASONS.items()}
