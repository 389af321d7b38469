"""The whole page of a window."""

from __future__ import annotations

from nicegui import ui

from ..window import Window


def build_page(window: Window) -> None:
    """Build the page of a window."""
    ui.label(f"steelyard {window.robot_name}")
    ui.label(window.key)
    ui.upload(auto_upload=True)
