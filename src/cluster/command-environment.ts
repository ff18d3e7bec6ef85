type Environment = Readonly<Record<string, string | undefined>>;

/**
 * What the commands see. Variables that change the options or the output of a command are left out: the server may itself
 * run inside an allocation. So is all that is Daruma's own, such as its token.
 */
export function commandEnvironment(
  base: Environment,
  kept: ReadonlySet<string>,
): Record<string, string | undefined> {
  const entries = Object.entries(base).filter(([name]) => kept.has(name) || !CHANGES_COMMANDS.test(name));
  return { ...Object.fromEntries(entries), LC_ALL: "C" };
}

const CHANGES_COMMANDS = /^(DARUMA|SBATCH|SRUN|SALLOC|SQUEUE|SACCT|SCANCEL|SINFO|SCONTROL|SLURM|SLURMD)_/;
