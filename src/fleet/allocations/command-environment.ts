type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The environment of the commands. It leaves out variables that change a command's options or output (the server may
 * itself run inside an allocation), and Daruma's own variables such as its token.
 */
export function commandEnvironment(
  base: Environment,
  kept: ReadonlySet<string>,
): Record<string, string | undefined> {
  const entries = Object.entries(base).filter(([name]) => kept.has(name) || !CHANGES_COMMANDS.test(name));
  return { ...Object.fromEntries(entries), LC_ALL: "C" };
}

const CHANGES_COMMANDS = /^(DARUMA|SBATCH|SRUN|SALLOC|SQUEUE|SACCT|SCANCEL|SINFO|SCONTROL|SLURM|SLURMD)_/;
