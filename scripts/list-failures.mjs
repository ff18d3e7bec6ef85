// A reporter of Vitest for long logs: one line for each test that failed, before the details of the first one.
const LONGEST = 300;

export default class ListFailures {
  onTestRunEnd(modules, unhandled) {
    const lines = [
      ...modules.flatMap((module) => [
        ...module.errors().map((error) => line(module.relativeModuleId, error)),
        ...[...module.children.allTests("failed")].map((test) =>
          line(`${module.relativeModuleId} > ${test.fullName}`, test.result().errors?.[0]),
        ),
      ]),
      ...unhandled.map((error) => line("outside of any test", error)),
    ];
    if (lines.length > 0) console.log(`\n${lines.length} failed:\n${lines.join("\n")}`);
  }
}

function line(where, error) {
  const [message = ""] = String(error?.message ?? "").split("\n");
  return `FAILED ${where}: ${message}`.slice(0, LONGEST);
}
