import { describe, expect, it } from "vitest";
import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import type { OrderDocument } from "@/solver/plan/policySchema";
import { sayCompletion, startTestEngine } from "../testing/testEngine";
import { hashed, oneModel, startTestGateway, type TestGateway } from "../testing/testGateway";

const clients = 24;
/** More than wait at once, so that the bound differs clearly from first come first served. */
const agingThreshold = 40;
const without = 10_000;

const orders: readonly (readonly [string, (agingThreshold: number) => OrderDocument])[] = [
  ["shortest job first", (releases) => ({ kind: "sjf", agingThreshold: releases })],
  ["feedback over programs", (releases) => ({ kind: "mlfq", quantaSeconds: [0.001], agingThreshold: releases })],
];

/** A long request in a session that was served before: last in every order that prefers what is short or new. */
const askLong = ({ post }: TestGateway) =>
  post(
    "/v1/chat/completions",
    { model: "cascade/test", messages: [{ role: "user", content: "Everything." }], max_tokens: 5000 },
    { "x-session-id": "long" },
  );

/**
 * A continuous stream of short requests to one engine that takes one at a time, until `most` are answered, and a long one that arrives
 * among them.
 */
async function crowd(order: OrderDocument, most: number): Promise<readonly Decision[]> {
  const engine = await startTestEngine((_, response) => setTimeout(() => sayCompletion(response, "short"), 2));
  const gateway = await startTestGateway();
  const policy = { kind: "fixed", model: "large", order, place: { kind: "least-load" } } as const;
  await gateway.put({ ...oneModel([engine.url], 1), ...hashed(policy) });
  await askLong(gateway);
  let answered = 0;
  const long: Promise<Response>[] = [];
  const loop = async (): Promise<void> => {
    while (answered < most) {
      const { status } = await gateway.chat({ max_tokens: 5 });
      expect(status).toBe(200);
      answered += 1;
      if (answered === 2 * clients) long.push(askLong(gateway));
    }
  };
  await Promise.all(Array.from({ length: clients }, loop));
  expect((await long[0])?.status).toBe(200);
  return gateway.decisions();
}

/** Releases that overtook the long request, and the bound on them: S and those that waited when it joined. */
function passesOver(decisions: readonly Decision[]) {
  const stays = decisions.map(({ program, stages }) => ({ program, ...stages[0]!.at! }));
  const [, long] = stays.filter(({ program }) => program === "long").sort((a, b) => a.queued - b.queued);
  const others = stays.filter((stay) => stay !== long && stay.dispatched > long!.queued);
  return {
    passes: others.filter(({ dispatched }) => dispatched <= long!.dispatched).length,
    bound: agingThreshold + others.filter(({ queued }) => queued <= long!.queued).length,
  };
}

describe("a long request among endless short ones", () => {
  it.each(orders)("is released within S + n releases under %s, and waits on without aging", async (_, order) => {
    const most = 2 * clients + 3 * (agingThreshold + clients);
    const aged = passesOver(await crowd(order(agingThreshold), most));
    expect(aged.bound).toBeLessThan(agingThreshold + clients);
    expect(aged.passes).toBeLessThanOrEqual(aged.bound);
    const waited = passesOver(await crowd(order(without), most));
    expect(waited.passes).toBeGreaterThan(1.5 * waited.bound);
  });
});
