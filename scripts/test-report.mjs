// A vitest reporter that keeps what the summary needs: how many tests passed, and by name what did not run or failed, and why.
import { writeFileSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";

/** Enough of an error to begin with; the whole of it stands further up, where the test ran. */
const maxLines = 20;

function reasons(errors) {
  const lines = errors.flatMap(({ message, diff, stacks }) => [
    ...(message ?? "").split("\n"),
    ...(diff ?? "").split("\n").filter((line) => line !== ""),
    ...(stacks ?? []).slice(0, 2).map(({ file, line }) => `at ${file}:${line}`),
  ]);
  return lines.slice(0, maxLines).map((line) => stripVTControlCharacters(line).slice(0, 300));
}

export default class TestReport {
  onTestRunEnd(modules, unhandledErrors) {
    const report = { passed: 0, failed: [], reasons: {}, skipped: [], matrix: [], again: [], files: [] };
    for (const module of modules) {
      const { collectDuration, setupDuration, duration } = module.diagnostic();
      const seconds = (collectDuration + setupDuration + duration) / 1_000;
      report.files.push({ name: module.relativeModuleId, seconds });
      const tests = [...module.children.allTests()];
      for (const test of tests) this.#add(report, module, test);
      // A file that cannot be loaded, or a hook that fails, has no test that could say so.
      const broken = [...module.children.allSuites()].filter((suite) => suite.errors().length > 0);
      if (module.errors().length > 0) this.#fail(report, module.relativeModuleId, module.errors());
      for (const suite of broken)
        this.#fail(report, `${module.relativeModuleId} > ${suite.fullName}`, suite.errors());
    }
    for (const error of unhandledErrors) report.failed.push(`unhandled error: ${error.message}`);
    writeFileSync(process.env.AGENTBOX_TEST_REPORT, JSON.stringify(report));
  }

  #fail(report, name, errors) {
    report.failed.push(name);
    report.reasons[name] = reasons(errors);
  }

  #add(report, module, test) {
    const name = `${module.relativeModuleId} > ${test.fullName}`;
    const result = test.result();
    const { matrix } = test.meta();
    const seconds = (test.diagnostic()?.duration ?? 0) / 1_000;
    if (matrix && result.state !== "pending") report.matrix.push({ ...matrix, state: result.state, seconds });
    if (result.state === "passed" && (test.diagnostic()?.retryCount ?? 0) > 0) report.again.push(name);
    if (result.state === "passed") report.passed += 1;
    else if (result.state === "failed") this.#fail(report, name, result.errors ?? []);
    else report.skipped.push({ name, reason: result.note ?? "" });
  }
}
