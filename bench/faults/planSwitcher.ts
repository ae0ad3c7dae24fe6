import { readFileSync } from "node:fs";

/**
 * A substitute for the studio, run as a separate process so that it can be killed: activates the next of its configurations
 * every second, with the ETag it has just read, and reads the decisions made since. Prints a line for each round.
 *
 * Arguments: the gateway's admin address, then a file with the configurations as a JSON array.
 */
const [adminUrl = "", file = ""] = process.argv.slice(2);
const plans = JSON.parse(readFileSync(file, "utf8")) as readonly unknown[];
const periodMs = 1000;
let cursor = 0;
let turn = Math.floor(Date.now() / periodMs);

async function round(): Promise<void> {
  const current = await fetch(`${adminUrl}/config`);
  await current.arrayBuffer();
  const answer = await fetch(`${adminUrl}/config`, {
    method: "PUT",
    headers: { "content-type": "application/json", "if-match": current.headers.get("etag") ?? "" },
    body: JSON.stringify(plans[turn % plans.length]),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`PUT /config: ${answer.status} ${text}`);
  turn += 1;
  for (let latest = cursor + 1; cursor < latest; ) {
    const page = (await (await fetch(`${adminUrl}/decisions?after=${cursor}`)).json()) as {
      decisions: { sequence: number }[];
      latest: number;
    };
    latest = page.latest;
    cursor = page.decisions.at(-1)?.sequence ?? latest;
  }
  process.stdout.write("switched\n");
}

for (;;) {
  const startedMs = performance.now();
  await round();
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, startedMs + periodMs - performance.now())));
}
