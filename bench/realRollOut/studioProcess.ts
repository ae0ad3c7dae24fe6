// The studio's part that applies plans, as its own process: its store, its apply runner and its process connector; no pages. It continues
// what a killed one left, and takes orders as lines of JSON.
import { createInterface } from "node:readline";
import { createApplyRunner } from "@/server/clusters/apply/applyRunner";
import { createAdminClient } from "@/server/clusters/connector/adminClient";
import { createConnector } from "@/server/clusters/connector/clusterConnector";
import { orderSigner, studioKey } from "@/server/lib/studioKey";
import type { ProcessConnection } from "@/server/processes/processConnection";
import { createProcessHost } from "@/server/processes/processHost";
import { openStore } from "@/server/store/store";

export interface StudioStart {
  readonly folder: string;
  readonly engines: string;
  readonly gatewayAdminUrl: string;
  readonly token: string;
  readonly clusterId: string;
  readonly connection: ProcessConnection;
}

/** Apply a plan, or continue an application that halted. */
export type StudioOrder = { readonly apply: string } | { readonly resume: string };

const { folder, engines, gatewayAdminUrl, token, clusterId, connection }: StudioStart = JSON.parse(process.argv[2] ?? "{}");
const store = openStore(folder);
const connector = createConnector({
  host: createProcessHost(connection, { folder: engines, gpuCards: () => ({}), environment: process.env }),
  gateway: createAdminClient("gateway", gatewayAdminUrl, token, { clusterId, sign: orderSigner(studioKey(folder)) }),
  planOf: (id) => store.plans.get(id),
});
const runner = createApplyRunner({ store, connectorOf: () => connector, graceMs: 0 });
runner.resumeAll();
createInterface({ input: process.stdin }).on("line", async (line) => {
  const order = JSON.parse(line) as StudioOrder;
  const done =
    "apply" in order
      ? await runner.start({ clusterId, planId: order.apply, kind: "apply", actor: "bench" })
      : runner.resume(order.resume, "bench");
  process.stdout.write(`${JSON.stringify(done.ok ? { id: done.application.id } : { refused: done.message })}\n`);
});
process.stdout.write("up\n");
