import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { judgePorts, judgePrograms } from "./judgePrograms";

const programs = (ports: { readonly judge: number; readonly judgeEngine: number }) =>
  judgePrograms({ root: "/weir", node: "/node", addonsFolder: "/addons", file: "/small.gguf", ports });

test("two ports that are free are chosen, and none of another cluster whose judge does not run now", async () => {
  const first = await judgePorts(null, []);
  if (first === null) throw new Error("no port is free");
  const server = createServer().listen(first.judge);
  onTestFinished(() => void server.close());
  const beside = await judgePorts(null, []);
  expect(Object.values(beside ?? {})).not.toContain(first.judge);
  const other = await judgePorts(null, [null, programs(first), { kind: "endpoints" }]);
  expect(Object.values(first)).not.toEqual(expect.arrayContaining(Object.values(other ?? {})));
  expect(new Set([...Object.values(first), ...Object.values(other ?? {})]).size).toBe(4);
});

test("a cluster keeps the ports in its connection, also while its judge listens on them", async () => {
  const ports = await judgePorts(null, []);
  if (ports === null) throw new Error("no port is free");
  const server = createServer().listen(ports.judge);
  onTestFinished(() => void server.close());
  expect(await judgePorts(JSON.parse(JSON.stringify(programs(ports))), [])).toEqual(ports);
});
