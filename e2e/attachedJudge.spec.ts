import { startTestJudge } from "@/server/judges/testing/testJudge";
import { lookOver } from "./acts";
import { signIn } from "./asPage";
import { attachEngines, startAttachedEngines } from "./attachedEngines";
import { expect, test } from "./fixtures";

test.use({ actionTimeout: 30_000 });

test("an operator of attached engines tests the judge, sees its measured time, sets it, and sees the prediction move", async ({
  page,
  studio,
}, info) => {
  test.setTimeout(300_000);
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  const [engines, judge] = await Promise.all([startAttachedEngines(), startTestJudge({ takesMs: () => 40, reply: "Well done!" })]);
  try {
    await signIn(page, studio.signInLink);
    await expect(page).toHaveURL(/\/plan/);

    await test.step("a judge is tested before it is attached: what is wrong is one sentence with the way out", async () => {
      await page.goto(`${studio.url}/clusters?attach=endpoints`);
      await page.getByLabel(/Addresses of engines that already run/).fill(engines.urls.join("\n"));
      await page.getByText("Judge and GPU metrics").click();
      await page.getByLabel("Judge's address").fill(judge.url);
      await page.getByLabel("Judge's model name").fill("our-judge");
      const found = page.getByRole("list", { name: "What testing the judge found" });
      await page.getByRole("button", { name: "Test the judge" }).click();
      await expect(found).toContainText("our-judge answers without a single number from 0 to 100. Name a model");
      judge.is.reply = "80";
      await page.getByRole("button", { name: "Test the judge" }).click();
      await expect(found).toContainText(/our-judge gives scores: \d+ ms a call on average of \d+, p50 \d+ ms, p95 \d+ ms\./);
      await lookOver(page, info, "attach-judge");
    });

    const clusterId = await attachEngines(page, studio, { ...engines, judge: { model: "our-judge", url: judge.url } }, "theirs");

    await test.step("the cluster's page has the measured time with where it is from, and measures again", async () => {
      await page.goto(`${studio.url}/clusters?show=${clusterId}`);
      const panel = page.getByRole("region", { name: "Judge" });
      await expect(panel.getByTestId("judge-planned")).toHaveText(/^\d{2,3}\sms a call, p95 \d+\sms$/);
      await expect(panel).toContainText(/measured by a test of the judge \(\d+ calls\)/);
      const before = judge.calls();
      await panel.getByRole("button", { name: "Measure again" }).click();
      await expect.poll(() => judge.calls()).toBeGreaterThan(before + 5);
      await lookOver(page, info, "cluster-judge");
    });

    const p95 = page.getByTestId("figure-p95");
    const solved = page.getByTestId("figure-solved");
    const secondsOf = async (): Promise<number> => {
      const [, number = "", unit] = /([\d.,]+)\s*(ms|s)/.exec(await p95.innerText()) ?? [];
      return Number(number.replaceAll(",", "")) / (unit === "ms" ? 1000 : 1);
    };

    await test.step("a plan takes it; set by hand, the predicted p95 moves by about as much", async () => {
      await page.goto(`${studio.url}/plan?cluster=${clusterId}&rate=1&floor=30&fixed=${encodeURIComponent("qwen2.5-3b@50~qwen2.5-7b")}`);
      await expect(page.getByTestId("judge-time")).toHaveText(/^\d{2,3}\sms a call, p95 \d+\sms, measured by a test of the judge/);
      await expect(solved).toHaveText(/\d/, { timeout: 60_000 });
      await expect(page.getByText(/^our-judge judges outside the plan: predictions assume \d{2,3}\sms a call/)).toBeVisible();
      const measured = await secondsOf();
      await page.getByRole("button", { name: "Set the judge's time" }).click();
      await page.getByLabel("Seconds of a judge call").fill("2");
      await expect(page).toHaveURL(/judge-seconds=2/);
      await expect(page.getByText(/predictions assume 2\.00\ss a call \(entered, not measured\)/)).toBeVisible({ timeout: 60_000 });
      const moved = async (): Promise<number> => (await secondsOf()) - measured;
      await expect.poll(moved).toBeGreaterThan(1.7);
      // Later answers also meet others at the second model's engine, which moves the p95 by some tenths of a second either way.
      expect(await moved()).toBeLessThan(3);
      await lookOver(page, info, "plan-judge");
      await page.getByRole("button", { name: "Use the cluster's time" }).click();
      await expect(page.getByText(/^our-judge judges outside the plan: predictions assume \d{2,3}\sms a call/)).toBeVisible({
        timeout: 60_000,
      });
    });

    await test.step("entered for the cluster, every plan takes it", async () => {
      await page.goto(`${studio.url}/clusters?show=${clusterId}`);
      const panel = page.getByRole("region", { name: "Judge" });
      await panel.getByLabel("Time of a call, entered").fill("0.5");
      await panel.getByRole("button", { name: "Plan with this time" }).click();
      await expect(panel).toContainText("entered, not measured");
      await panel.getByRole("button", { name: "Plan as measured" }).click();
      await expect(panel).toContainText("measured by a test of the judge");
    });
  } finally {
    await Promise.all([engines.stop(), judge.close()]);
  }
  expect(problems).toEqual([]);
});
