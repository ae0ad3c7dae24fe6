import { lackOf, variable } from "../scripts/needs.mjs";
import { signIn } from "./asPage";
import { endEngines } from "./endEngines";
import { test } from "./fixtures";
import { apply, chooseStages, exactPlan, expectNearPrediction, loadIsDone, setFloor, startLoad } from "./mainActs";

/** Each of two engines of vLLM has a core, which the browser and the studio share: a light load. */
const LOAD = { requestsPerSecond: 3, seconds: 45 } as const;

const lacks = lackOf([variable("WEIR_VLLM")]);
test.skip(lacks.length > 0, lacks.join(", "));
test.use({ studioCommand: "real" });
test.afterEach(({ studio }) => endEngines(studio));

test("an operator plans for vLLM on this computer, applies a cascade under load, and reads predicted beside measured", async ({
  page,
  studio,
}, info) => {
  test.setTimeout(1_200_000);
  const began = Date.now();
  const seconds = (): number => Math.round((Date.now() - began) / 1000);

  await test.step("plan a model alone, whose engine vLLM loads", async () => {
    await signIn(page, studio.signInLink);
    await page.getByLabel("Cluster", { exact: true }).selectOption({ label: "vLLM on this computer" });
    await page.getByRole("link", { name: "Plan", exact: true }).click();
    await page.getByLabel("Requests per second").fill(String(LOAD.requestsPerSecond));
    await page.getByLabel("Requests per second").press("Enter");
    await setFloor(page, 30);
    await exactPlan(page);
    await chooseStages(page, ["arith-small"]);
    await exactPlan(page);
    console.log(`a plan on screen after ${seconds()} s`);
    await apply(page, { withinSeconds: 400 });
    console.log(`arith-small alone in force after ${seconds()} s`);
  });

  await test.step("a cascade under load, without losing a request", async () => {
    await startLoad(page, { ...LOAD, seconds: 240 });
    await page.getByRole("link", { name: "Plan", exact: true }).click();
    await setFloor(page, 70);
    await exactPlan(page);
    await chooseStages(page, ["arith-small", "arith-large"]);
    await exactPlan(page);
    await apply(page, { withinSeconds: 400 });
    console.log(`the cascade in force after ${seconds()} s`);
    await loadIsDone(page, { withinSeconds: 300 });
  });

  await test.step("predicted beside measured", async () => {
    await startLoad(page, LOAD);
    await loadIsDone(page);
    // Engines and browser share two cores, and the speed of vLLM is not measured: plans use round figures for a core.
    console.log(`${await expectNearPrediction(page, { latencyFactor: 10 })}; after ${seconds()} s`);
    await info.attach("live", { body: await page.screenshot({ fullPage: true }), contentType: "image/png" });
  });
});
