import { expect, it } from "vitest";
import { queuedOf } from "../testing/testCanary";
import { heldEngine, sayCompletion, startTestEngine } from "../testing/testEngine";
import { startTestGateway, testConfig, until } from "../testing/testGateway";
import { putArtefact, shortText, testConfigurations } from "../testing/testPredictors";
import { askAs, callOf, jitConfig, justInTime, ladder, voting } from "../testing/testRounds";

it("asks predictors anew about a request that begins anew under a policy that reads them", async () => {
  const predictor = testConfigurations(voting, ladder);
  const engines = await Promise.all(ladder.map((model) => startTestEngine((_, response) => sayCompletion(response, model))));
  const leaving = await heldEngine();
  const gateway = await startTestGateway({ predictionSeconds: 20, searchSeconds: 20 });
  expect((await putArtefact(gateway, predictor)).status).toBe(200);
  // Its engine takes one request, and is removed with the plan.
  await gateway.put(testConfig({ stages: [{ model: "other", urls: [leaving.url] }], maxInFlight: 1 }));
  const first = gateway.chat({});
  await until(() => leaving.asked.length === 1);
  const second = askAs(gateway, callOf(voting, "voter-1", "p"), shortText("q1"));
  await until(async () => (await queuedOf(gateway)).other === 1);
  await gateway.put(
    jitConfig(
      engines.map(({ url }) => url),
      justInTime([{ workflow: voting, predictor: predictor.hash }]),
    ),
  );
  expect((await second).status).toBe(200);
  leaving.open();
  await first;
  const decision = (await gateway.decisions()).find(({ call }) => call?.agent === "voter-1");
  expect(decision?.configurations?.accurate).toBe(3 ** 4);
  expect(decision?.predictions?.configurations).toBe(predictor.hash);
});
