"""A controller of Universal Robots as its real-time data exchange (RTDE) sees it from outside.

A TCP server with the real packages.

"Real-Time Data Exchange (RTDE) Guide", Universal Robots: packages have a size, a type and a
payload, all in network byte order.
"""

from __future__ import annotations

import math
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

VECTOR6D = "VECTOR6D"
TYPES = {
    "timestamp": "DOUBLE",
    **dict.fromkeys(
        ("actual_q", "actual_qd", "actual_current", "target_moment", "target_q", "target_qd"),
        VECTOR6D,
    ),
    **dict.fromkeys(
        (
            "target_qdd",
            "target_current",
            "actual_TCP_pose",
            "actual_TCP_speed",
            "actual_TCP_force",
            "joint_temperatures",
        ),
        VECTOR6D,
    ),
    **dict.fromkeys(
        (
            "target_TCP_pose",
            "target_TCP_speed",
            "joint_control_output",
            "actual_joint_voltage",
            "ft_raw_wrench",
        ),
        VECTOR6D,
    ),
    **dict.fromkeys(("actual_digital_input_bits", "actual_digital_output_bits"), "UINT64"),
    **dict.fromkeys(("robot_mode", "safety_mode"), "INT32"),
    **dict.fromkeys(("runtime_state", "robot_status_bits", "safety_status_bits"), "UINT32"),
    **dict.fromkeys(("actual_tool_accelerometer", "payload_cog"), "VECTOR3D"),
    "payload_inertia": VECTOR6D,
    "joint_mode": "VECTOR6INT32",
}
FORMATS = {
    "DOUBLE": "d",
    VECTOR6D: "6d",
    "VECTOR3D": "3d",
    "VECTOR6INT32": "6i",
    "UINT64": "Q",
    "UINT32": "I",
    "INT32": "i",
    "BOOL": "?",
    "UINT8": "B",
}


def type_of(name: str) -> str:
    """The type that the controller gives a variable."""
    if name.startswith("output_int_register"):
        return "INT32"
    return TYPES.get(name, "DOUBLE")


def state(k: int) -> dict[str, tuple[float, ...]]:
    """What package k says of the robot."""
    return {
        "timestamp": (100.0 + k / 125.0,),
        "actual_q": tuple(math.sin(0.01 * k + j) for j in range(6)),
        "actual_qd": tuple(1.25 * math.cos(0.01 * k + j) for j in range(6)),
        "actual_current": tuple(0.1 * j + 0.001 * k for j in range(6)),
        "target_moment": tuple(10.0 * j + 0.001 * k for j in range(6)),
    }


class FakeController:
    """Answers one client after another with the packages of `state`, and closes the connection
    after `stop_after` of them.
    """

    def __init__(self, host: str, stop_after: int) -> None:
        self.stop_after = stop_after
        self._server = socket.create_server((host, 30004))
        print("ready", flush=True)
        while True:
            connection, _ = self._server.accept()
            with connection:
                self._talk(connection)

    def _talk(self, connection: socket.socket) -> None:
        connection.settimeout(0.001)
        fields: list[str] = []
        frequency, started, k, buffer, due = 125.0, False, 0, b"", 0.0
        while k < self.stop_after:
            with suppress(TimeoutError):
                got = connection.recv(4096)
                if not got:
                    return
                buffer += got
            while len(buffer) >= 3 and len(buffer) >= struct.unpack(">H", buffer[:2])[0]:
                size = struct.unpack(">H", buffer[:2])[0]
                kind, payload, buffer = buffer[2:3], buffer[3:size], buffer[size:]
                if kind == b"O":
                    frequency, fields = (
                        struct.unpack(">d", payload[:8])[0],
                        payload[8:].decode().split(","),
                    )
                started, due = (kind == b"S", time.monotonic()) if kind in b"SP" else (started, due)
                self._send(connection, kind, answer(kind, payload))
            if started and time.monotonic() >= due:
                due += 1.0 / frequency
                self._send(connection, b"U", b"\x01" + data(fields, k))
                k += 1

    @staticmethod
    def _send(connection: socket.socket, kind: bytes, payload: bytes) -> None:
        connection.sendall(struct.pack(">H", 3 + len(payload)) + kind + payload)


def answer(kind: bytes, payload: bytes) -> bytes:
    """What the controller answers.

    To the protocol's version, its own version, a recipe of outputs, start and pause.
    """
    if kind == b"V":
        return struct.pack(">B", struct.unpack(">H", payload)[0] == 2)
    if kind == b"v":
        return struct.pack(">4I", 5, 11, 0, 0)
    if kind == b"O":
        return b"\x01" + ",".join(map(type_of, payload[8:].decode().split(","))).encode()
    return b"\x01"


def data(fields: list[str], k: int) -> bytes:
    """The variables of a recipe in package k."""
    values, result = state(k), b""
    for name in fields:
        kind = FORMATS[type_of(name)]
        argument = values.get(name, (0,) * int(kind[:-1] or 1))
        result += struct.pack(
            f">{kind}", *(float(x) if kind[-1] == "d" else int(x) for x in argument)
        )
    return result


@contextmanager
def controller(host: str, stop_after: int = 10**9) -> Iterator[None]:
    """A fake controller in its own process.

    The client of ur-rtde holds Python's lock while it connects.
    """
    with subprocess.Popen(
        [sys.executable, __file__, host, str(stop_after)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline().strip() == "ready"
            yield
        finally:
            process.kill()


if __name__ == "__main__":
    FakeController(sys.argv[1], int(sys.argv[2]))
