import { expect, test } from "vitest";
import { JUDGE_MODEL } from "@/server/confidenceJudge/judgePrograms";
import { clusterConnectionSchema, readConnection, sharedEngine } from "@/server/fleet/connection";
import { connectionText, readConnectionText } from "@/server/fleet/connectionText";
import { realConnection } from "./realConnection";

const connection = realConnection({
  places: { root: "/opt/we ir", node: "/usr/bin/node", addonsFolder: "/var/add ons" },
  ...{ card: "cpu-core", cores: 4, judgeFile: "/m/arith-small-trained.gguf", ports: { judge: 8200, judgeEngine: 8201 } },
  files: { "arith-small": "/m/arith-small.gguf", "arith-large": "/m/arith-large.gguf" },
});

test("the cluster of real models is a connection that the studio can keep, show as text, and read back", () => {
  expect(clusterConnectionSchema.parse(connection)).toEqual(connection);
  expect(readConnection(JSON.parse(JSON.stringify(connection)))).toEqual({ ok: true, value: connection });
  expect(readConnectionText(connectionText(connection))).toMatchObject({ ok: true, connection });
  expect(sharedEngine(connection, [])).toBeNull();
});

test("the judge asks an engine of its own, which no plan starts or stops", () => {
  const [engine, judge] = connection.kind === "processes" ? connection.beside : [];
  expect(engine?.command.slice(0, 2)).toEqual(["/usr/bin/node", "/opt/we ir/dist/engine.mjs"]);
  expect(engine?.command.join(" ")).toContain("--model /m/arith-small-trained.gguf --alias arith-small --host 127.0.0.1 --port 8201");
  expect(judge?.command.join(" ")).toContain("--engine http://127.0.0.1:8201 --model arith-small --host 127.0.0.1 --port 8200");
  expect(connection.judge).toEqual({ model: JUDGE_MODEL, url: "http://127.0.0.1:8200" });
});
