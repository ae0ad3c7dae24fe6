import { expect, it } from "vitest";
import { gatewayStatusSchema } from "@/server/contracts/gateway/gatewayAdmin";
import { seededRandom } from "@/solver/numeric/random";
import { sayCompletion, startTestEngine } from "../testing/testEngine";
import { hashed, oneModel, startTestGateway, testConfig, until } from "../testing/testGateway";
import { putArtefact, shortText, testConfigurations } from "../testing/testPredictors";
import { callOf, justInTime, ladder, pinned, roundsOf, voting } from "../testing/testRounds";

it("loses no request and no place while engines break calls off, clients leave, models come and go, and plans change", async () => {
  const random = seededRandom(11);
  const engine = () =>
    startTestEngine((_, response) => {
      setTimeout(() => (random.next() < 0.1 ? response.destroy() : sayCompletion(response, "done")), random.int(15));
    });
  const urls = await Promise.all(ladder.map(async () => [(await engine()).url, (await engine()).url]));
  const stages = ladder.map((model, at) => ({ model, urls: urls[at] ?? [] }));
  const gateway = await startTestGateway({ queuedPerModel: 60 });
  const predictor = testConfigurations(voting, ladder);
  await putArtefact(gateway, predictor);
  const policy = (width: number) =>
    justInTime([{ workflow: voting, predictor: predictor.hash }, { workflow: pinned }], { selection: { kind: "beam", width } });
  const plans = [hashed(policy(4)), hashed(policy(1)), hashed(justInTime([])), hashed(oneModel(["http://127.0.0.1:9"]).policy)];
  const putAny = () => {
    const config = { ...testConfig({ stages, maxInFlight: 2, planId: `plan-${random.int(4)}` }), ...plans[random.int(plans.length)]! };
    const cordoned = random.next() < 0.5 ? ladder[random.int(3)] : undefined;
    const replicas = config.replicas.map((replica) => ({
      ...replica,
      state: replica.model === cordoned ? ("cordoned" as const) : replica.state,
    }));
    return gateway.put({ ...config, replicas, ...(cordoned !== undefined && random.next() < 0.5 && { awaited: [cordoned] }) });
  };
  await putAny();
  const leaves = new Set<AbortController>();
  const ask = async (program: number): Promise<number> => {
    const { name, agents } = random.next() < 0.7 ? voting : pinned;
    const leave = new AbortController();
    leaves.add(leave);
    const headers = {
      "content-type": "application/json",
      ...callOf({ name }, agents[random.int(agents.length)]?.name ?? "", `program-${program}`),
    };
    const body = JSON.stringify({
      model: "cascade/default",
      messages: [{ role: "user", content: shortText("it") }],
      stream: random.next() < 0.3,
    });
    const asking = fetch(`${gateway.dataUrl}/v1/chat/completions`, { method: "POST", headers, body, signal: leave.signal });
    const read = async (answer: Response): Promise<number> => {
      await answer.text();
      return answer.status;
    };
    return asking.then(read).catch(() => 499);
  };
  const asked: Promise<number>[] = [];
  for (let step = 0; step < 60; step += 1) {
    for (let burst = random.int(12); burst > 0; burst -= 1) asked.push(ask(random.int(30)));
    if (random.next() < 0.2) await putAny();
    if (random.next() < 0.3) [...leaves].at(-1 - random.int(4))?.abort();
    await roundsOf(gateway);
  }
  // No work waits any more for a model that an operator excludes.
  await gateway.put({ ...testConfig({ stages, maxInFlight: 2 }), ...plans[0]! });
  const statuses = await Promise.all(asked);
  expect(statuses).toContain(200);
  expect(statuses.filter((status) => ![200, 429, 499, 502, 503].includes(status))).toEqual([]);
  await until(async () => {
    const { queued, replicas } = gatewayStatusSchema.parse(await (await fetch(`${gateway.adminUrl}/status`)).json());
    return Object.values(queued).every((count) => count === 0) && replicas.every(({ inFlight }) => inFlight === 0);
  });
});
