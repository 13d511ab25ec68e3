// Shared by all scripts: the root of the repository, running a program, and reporting long steps. Only node: built-ins,
// because this runs before anything is installed.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));

/** Runs a program to its end and keeps its output (both streams, and stdout alone); `show` passes the output through instead. */
export function run(argv, { show = false, env = process.env, cwd = root } = {}) {
  return new Promise((resolve) => {
    const started = performance.now();
    const child = spawn(argv[0], argv.slice(1), {
      cwd,
      env,
      stdio: ["ignore", show ? "inherit" : "pipe", show ? "inherit" : "pipe"],
    });
    const output = [];
    const stdout = [];
    child.stdout?.on("data", (chunk) => output.push(chunk) && stdout.push(chunk));
    child.stderr?.on("data", (chunk) => output.push(chunk));
    const text = (chunks) => Buffer.concat(chunks).toString();
    const end = (code, extra = "") =>
      resolve({ code, stdout: text(stdout), output: text(output) + extra, ms: performance.now() - started });
    child.on("error", (error) => end(127, `${argv[0]}: ${error.message}\n`));
    child.on("close", (code, signal) => end(code ?? 1, signal ? `${argv[0]} was ended by ${signal}\n` : ""));
  });
}

/** A line before the work and one after it, for anything that may take longer than a second. */
export async function step(title, work) {
  const started = performance.now();
  console.log(`${title} …`);
  const result = await work();
  console.log(`${title}: done in ${((performance.now() - started) / 1000).toFixed(1)} s`);
  return result;
}

/** Ends the script with one sentence, and with the details only when there are any. */
export function fail(sentence, details = "") {
  if (details.trim()) console.error(details.trimEnd());
  console.error(sentence);
  process.exit(1);
}
