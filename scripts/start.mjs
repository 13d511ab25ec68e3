// `npm start`: what this machine lacks is installed or named, then the tour shows a box at work.
// Arguments after `--` go to the tour.
import { join } from "node:path";
import { fail, root, run } from "./steps.mjs";
import { installPackages } from "./system-packages.mjs";

const agentbox = [process.execPath, join(root, "bin", "agentbox")];

/**
 * The packages that the default runtime lacks here, and the programs that every runtime needs. Other runtimes are a
 * person's choice, and what is broken is not cured by installing.
 */
async function missingPackages() {
  const { code, stdout, output } = await run([...agentbox, "doctor", "--json"]);
  let report;
  try {
    report = JSON.parse(stdout);
  } catch {
    fail(
      "`agentbox doctor` gave no report; its own words are above.",
      output || `It ended with code ${code}.`,
    );
  }
  const absent = (entry) => entry.status === "absent";
  return [
    ...new Set([
      ...report.runtimes
        .filter((runtime) => runtime.isDefault && absent(runtime))
        .flatMap((runtime) => runtime.fix?.packages ?? []),
      ...report.programs.filter(absent).flatMap((program) => program.packages),
    ]),
  ];
}

const packages = await missingPackages();
if (packages.length > 0) {
  console.log(`AgentBox needs programs that are not installed here: ${packages.join(", ")}.`);
  const { isInstalled, reason } = await installPackages(packages);
  if (!isInstalled) fail(`${reason}\nThen run npm start again.`);
}

await run([...agentbox, "doctor"], { show: true });
console.log("");
const tour = await run([...agentbox, "tour", ...process.argv.slice(2)], { show: true });
process.exitCode = tour.code;
