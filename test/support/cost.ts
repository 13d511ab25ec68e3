/** The processor time of one piece of work in units of another: a slow or busy machine is slow at both. */

type Work = () => unknown;

const rounds = 3;

async function cpuMs(work: Work): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** The least of a few rounds counts for each, so that a collection of garbage in one of them does not. */
export async function costRatio(work: Work, control: Work): Promise<number> {
  const costs = { work: Infinity, control: Infinity };
  for (let round = 0; round < rounds; round += 1) {
    costs.control = Math.min(costs.control, await cpuMs(control));
    costs.work = Math.min(costs.work, await cpuMs(work));
  }
  return costs.work / costs.control;
}
