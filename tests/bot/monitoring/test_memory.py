"""How much memory is left, read from files as the kernel writes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.monitoring.dependencies import memory_left

MB = 1024 * 1024


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    """A machine with 4 GB available, where the service is in a unit of the system."""
    proc = tmp_path / "proc"
    (proc / "self").mkdir(parents=True)
    (proc / "meminfo").write_text("MemTotal:  8000000 kB\nMemAvailable:   4194304 kB\n")
    (proc / "self/cgroup").write_text("1:cpu:/\n0::/system.slice/opengui.service\n")
    return proc


def group(at: Path, *, used: int, unused_files: int = 0, high: str = "max", most: str = "max") -> None:
    at.mkdir(parents=True, exist_ok=True)
    (at / "memory.current").write_text(f"{used}\n")
    (at / "memory.stat").write_text(f"anon 1\ninactive_file {unused_files}\n")
    (at / "memory.high").write_text(f"{high}\n")
    (at / "memory.max").write_text(f"{most}\n")


def test_without_a_limit_the_machine_counts(proc: Path, tmp_path: Path) -> None:
    groups = tmp_path / "groups"
    group(groups / "system.slice/opengui.service", used=900 * MB)
    assert memory_left(proc, groups) == 4096 * MB


def test_the_nearest_limit_counts_and_unused_pages_of_files_do_not(proc: Path, tmp_path: Path) -> None:
    groups = tmp_path / "groups"
    own = groups / "system.slice/opengui.service"
    group(own, used=300 * MB, unused_files=50 * MB, high=str(400 * MB), most=str(500 * MB))
    assert memory_left(proc, groups) == 150 * MB
    group(groups / "system.slice", used=990 * MB, most=str(1000 * MB))
    assert memory_left(proc, groups) == 10 * MB


def test_a_limit_that_is_passed_leaves_nothing(proc: Path, tmp_path: Path) -> None:
    groups = tmp_path / "groups"
    group(groups / "system.slice/opengui.service", used=300 * MB, high=str(200 * MB))
    assert memory_left(proc, groups) == 0


def test_a_container_is_the_root_of_its_groups(proc: Path, tmp_path: Path) -> None:
    (proc / "self/cgroup").write_text("0::/\n")
    groups = tmp_path / "groups"
    group(groups, used=100 * MB, most=str(256 * MB))
    assert memory_left(proc, groups) == 156 * MB


def test_where_nothing_can_be_read_nothing_is_said(tmp_path: Path) -> None:
    assert memory_left(tmp_path / "none", tmp_path / "none") is None


def test_of_this_machine() -> None:
    assert memory_left()
