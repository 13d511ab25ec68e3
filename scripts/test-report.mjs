// A vitest reporter that keeps what the summary needs: how many tests passed, and by name what did not run or failed.
import { writeFileSync } from "node:fs";

export default class TestReport {
  onTestRunEnd(modules, unhandledErrors) {
    const report = { passed: 0, failed: [], skipped: [], matrix: [], again: [], files: [] };
    for (const module of modules) {
      const { collectDuration, setupDuration, duration } = module.diagnostic();
      const seconds = (collectDuration + setupDuration + duration) / 1_000;
      report.files.push({ name: module.relativeModuleId, seconds });
      const tests = [...module.children.allTests()];
      for (const test of tests) this.#add(report, module, test);
      // A file that cannot be loaded, or a hook that fails, has no test that could say so.
      const broken = [...module.children.allSuites()].filter((suite) => suite.errors().length > 0);
      if (module.errors().length > 0) report.failed.push(module.relativeModuleId);
      for (const suite of broken) report.failed.push(`${module.relativeModuleId} > ${suite.fullName}`);
    }
    for (const error of unhandledErrors) report.failed.push(`unhandled error: ${error.message}`);
    writeFileSync(process.env.AGENTBOX_TEST_REPORT, JSON.stringify(report));
  }

  #add(report, module, test) {
    const name = `${module.relativeModuleId} > ${test.fullName}`;
    const result = test.result();
    const { matrix } = test.meta();
    const seconds = (test.diagnostic()?.duration ?? 0) / 1_000;
    if (matrix && result.state !== "pending") report.matrix.push({ ...matrix, state: result.state, seconds });
    if (result.state === "passed" && (test.diagnostic()?.retryCount ?? 0) > 0) report.again.push(name);
    if (result.state === "passed") report.passed += 1;
    else if (result.state === "failed") report.failed.push(name);
    else report.skipped.push({ name, reason: result.note ?? "" });
  }
}
