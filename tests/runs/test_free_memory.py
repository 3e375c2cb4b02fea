"""How much memory there is, on machines and in containers of several kinds."""

import os

import pytest

from merlax.runs import free_memory


def write(folder, **files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("_", ".", 1)).write_text(text)


def test_this_machine_has_some():
    everything = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2**20
    assert 0 < free_memory.available_mb() < 2 * everything


def test_what_is_available_counts_rather_than_what_is_free(tmp_path):
    told = tmp_path / "meminfo"
    told.write_text("MemTotal: 4096 kB\nMemFree: 1024 kB\nMemAvailable:    2048 kB\nHugePages_Total:       0\n")
    assert list(free_memory.free_on_machine(told)) == [2]


def test_where_nothing_is_told_all_there_is_counts(tmp_path):
    everything = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2**20
    assert list(free_memory.free_on_machine(tmp_path / "nothing")) == [everything]


def test_a_container_has_what_is_left_of_its_limit_without_the_files_it_has_read(tmp_path):
    used = {"memory_current": f"{60 * 2**20}\n", "memory_stat": f"anon 5\ninactive_file {2**20}\n"}
    write(tmp_path, memory_max=f"{100 * 2**20}\n", **used)
    (tmp_path / "own").write_text("0::/\n")
    assert list(free_memory.free_in_groups(tmp_path / "own", tmp_path)) == [41]


@pytest.mark.parametrize(("limit", "left"), [("max", []), (str(2**20), [0])])
def test_a_container_without_a_limit_has_none_and_a_full_one_nothing(tmp_path, limit, left):
    write(tmp_path, memory_max=limit, memory_current=str(2**21))
    (tmp_path / "own").write_text("0::/\n")
    assert list(free_memory.free_in_groups(tmp_path / "own", tmp_path)) == left


def test_groups_around_the_own_one_have_limits_too(tmp_path):
    write(tmp_path / "user" / "shell", memory_max="max", memory_current="0")
    write(tmp_path / "user", memory_max=str(2**21), memory_current=str(2**20))
    (tmp_path / "own").write_text("0::/user/shell\n")
    assert list(free_memory.free_in_groups(tmp_path / "own", tmp_path)) == [1]


def test_the_first_version_of_control_groups_is_understood(tmp_path):
    files = {"memory_limit_in_bytes": str(2**22), "memory_usage_in_bytes": str(2**20)}
    write(tmp_path / "memory" / "job", **files, memory_stat=f"total_inactive_file {2**20}")
    (tmp_path / "own").write_text("9:cpu,cpuacct:/job\n4:memory:/job\n")
    assert list(free_memory.free_in_groups(tmp_path / "own", tmp_path)) == [4]


def test_a_system_without_control_groups_has_no_limit(tmp_path):
    assert list(free_memory.free_in_groups(tmp_path / "nothing", tmp_path)) == []
