import { describe, expect, it } from "vitest";
import { oomFileOf, oomKillsIn, readControlGroup } from "./control-group.js";

const V1_MOUNTS = `
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct
34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset
35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw`;
const V1_GROUPS = `9:name=systemd:/
4:memory:/slurm_node1/uid_0/job_7/step_batch
3:cpuset:/slurm_node1
1:cpu,cpuacct:/slurm_node1
0::/`;
const V2_MOUNTS = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate";
const V2_GROUPS = "0::/system.slice/job_7/step";

function group(files: { readonly [path: string]: string }) {
  return readControlGroup((path) => files[path] ?? null);
}

function oomFile(files: { readonly [path: string]: string }) {
  return oomFileOf((path) => files[path] ?? null);
}

describe("the control group of a process", () => {
  const memory = "/sys/fs/cgroup/memory/slurm_node1";
  const v1 = {
    "/proc/self/cgroup": V1_GROUPS,
    "/proc/self/mountinfo": V1_MOUNTS,
    [`${memory}/memory.limit_in_bytes`]: "9223372036854771712\n",
    [`${memory}/uid_0/job_7/memory.limit_in_bytes`]: "838860800\n",
    [`${memory}/uid_0/job_7/step_batch/memory.limit_in_bytes`]: "9223372036854771712\n",
    [`${memory}/uid_0/job_7/step_batch/memory.oom_control`]: "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n",
  };

  it("of version 1 has the least memory of all groups above it", () => {
    expect(group(v1)).toEqual({ memoryBytes: 838_860_800, cpus: null });
    expect(oomFile(v1)).toBe(`${memory}/uid_0/job_7/step_batch/memory.oom_control`);
  });

  it("of version 1 has the least of quota and set of processors", () => {
    const cpu = "/sys/fs/cgroup/cpu,cpuacct/slurm_node1";
    const quota = { [`${cpu}/cpu.cfs_quota_us`]: "250000", [`${cpu}/cpu.cfs_period_us`]: "100000" };
    const set = { "/sys/fs/cgroup/cpuset/slurm_node1/cpuset.effective_cpus": "0-1,5\n" };
    expect(group({ ...v1, ...quota }).cpus).toBe(2.5);
    expect(group({ ...v1, ...set }).cpus).toBe(3);
    expect(group({ ...v1, ...quota, ...set }).cpus).toBe(2.5);
    expect(group({ ...v1, [`${cpu}/cpu.cfs_quota_us`]: "-1" }).cpus).toBeNull();
  });

  it("is not bounded by the processors of the topmost group, which are those of the machine", () => {
    const top = { "/proc/self/cgroup": "3:cpuset:/", "/proc/self/mountinfo": V1_MOUNTS };
    expect(group({ ...top, "/sys/fs/cgroup/cpuset/cpuset.effective_cpus": "0-1" }).cpus).toBeNull();
  });

  it("of version 2 has both from its own files and those above it", () => {
    const at = "/sys/fs/cgroup/system.slice";
    const v2 = {
      "/proc/self/cgroup": V2_GROUPS,
      "/proc/self/mountinfo": V2_MOUNTS,
      [`${at}/job_7/step/memory.max`]: "max\n",
      [`${at}/job_7/memory.max`]: "1073741824\n",
      [`${at}/memory.max`]: "4294967296\n",
      [`${at}/job_7/step/cpu.max`]: "max 100000\n",
      [`${at}/job_7/cpu.max`]: "400000 100000\n",
      [`${at}/job_7/step/cpuset.cpus.effective`]: "0-7\n",
      [`${at}/job_7/step/memory.events`]: "low 0\nhigh 0\nmax 9\noom 1\noom_kill 1\n",
    };
    expect(group(v2)).toEqual({ memoryBytes: 1_073_741_824, cpus: 4 });
    expect(oomFile(v2)).toBe(`${at}/job_7/step/memory.events`);
  });

  it("of a container is found where the container has its own group as the root", () => {
    const mounts = V1_MOUNTS.replace("0:32 / /sys", "0:32 /docker/abc /sys");
    const groups = V1_GROUPS.replace(
      "memory:/slurm_node1/uid_0/job_7/step_batch",
      "memory:/docker/abc/inner",
    );
    const files = { "/proc/self/mountinfo": mounts, "/proc/self/cgroup": groups };
    const at = "/sys/fs/cgroup/memory";
    expect(group({ ...files, [`${at}/inner/memory.limit_in_bytes`]: "1000" }).memoryBytes).toBe(1_000);
    expect(group({ ...files, [`${at}/memory.limit_in_bytes`]: "2000" }).memoryBytes).toBe(2_000);
  });

  it("bounds nothing where there is none, or its files say nothing that can be read", () => {
    const nothing = { cpus: null, memoryBytes: null };
    expect(group({})).toEqual(nothing);
    expect(oomFile({})).toBeNull();
    const garbled = { "/proc/self/cgroup": "::\n0::/../../x", "/proc/self/mountinfo": "a b\n - cgroup2" };
    expect(group(garbled)).toEqual(nothing);
    expect(
      group({
        "/proc/self/cgroup": V2_GROUPS,
        "/proc/self/mountinfo": V2_MOUNTS,
        "/sys/fs/cgroup/cpu.max": "x",
      }),
    ).toEqual(nothing);
  });
});

describe("the processes that the kernel ended for want of memory", () => {
  it.each([
    ["oom_kill_disable 0\nunder_oom 0\noom_kill 3\n", 3],
    ["low 0\nhigh 0\nmax 12\noom 2\noom_kill 2\noom_group_kill 0\n", 2],
    ["oom_kill_disable 0\nunder_oom 1\n", null],
    ["", null],
  ])("are counted in %j", (text, expected) => {
    expect(oomKillsIn(text)).toBe(expected);
  });
});
