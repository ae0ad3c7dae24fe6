import { readFileSync } from "node:fs";
import { accessible, lookOver } from "./acts";
import { signIn } from "./asPage";
import { expect, test } from "./fixtures";
import { apply, exactPlan } from "./mainActs";

test.use({ studioEnvironment: { WEIR_TIME_SCALE: "10" }, actionTimeout: 60_000 });

test("an admin gives a key limits that the gateway enforces, changes them, and reads and downloads its use", async ({
  page,
  studio,
}, info) => {
  test.setTimeout(600_000);
  await signIn(page, studio.signInLink);
  await page.goto(`${studio.url}/plan?rate=3&floor=55`);
  await exactPlan(page);
  await apply(page);
  await page.goto(`${studio.url}/people`);
  const usage = page.getByRole("region", { name: /^Use of the keys/ });
  await expect(usage).toContainText("No request with a key was answered in these days.");

  const key = await test.step("the form says what is wrong, and makes a key with limits and labels", async () => {
    await page.getByRole("button", { name: "Create a key" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Label").fill("support chat");
    await dialog.getByLabel("Team").fill("Zoë");
    await dialog.getByRole("button", { name: "Create", exact: true }).click();
    await expect(dialog.getByRole("alert")).toContainText("it goes into the headers of answers");
    await dialog.getByLabel("Team").fill("search");
    await dialog.getByLabel("Tokens a day").check();
    await dialog.getByLabel("Tokens a day, at most").fill("3000");
    await dialog.getByLabel("Models").fill("cascade/default");
    await accessible(page);
    await page.screenshot({ path: info.outputPath("create.png") });
    await dialog.getByRole("button", { name: "Create", exact: true }).click();
    const made = await dialog.getByLabel("Key", { exact: true }).inputValue();
    await dialog.getByRole("button", { name: "I have copied it" }).click();
    return made;
  });
  const ask = (model: string, most: number) =>
    page.request.post(`${studio.gatewayUrl}/v1/chat/completions`, {
      headers: { authorization: `Bearer ${key}` },
      data: { model, max_tokens: most, messages: [{ role: "user", content: "How do I reset my password?" }] },
      timeout: 120_000,
    });
  expect((await ask("cascade/default", 200)).status()).toBe(200);
  expect((await ask("somebody", 200)).status()).toBe(403);
  const tooMuch = await ask("cascade/default", 5000);
  expect([tooMuch.status(), (await tooMuch.json()).error.code]).toEqual([429, "token_limit_exceeded"]);

  await test.step("the page shows the use, in every colour and width", async () => {
    await page.reload();
    const row = page.getByRole("table", { name: /^Gateway keys/ }).getByRole("row", { name: /support chat/ });
    await expect(row).toContainText(/\d+ of 3,000 tokens a day/);
    await expect(row).toContainText("search");
    await expect(row).toContainText("only cascade/default");
    await expect(usage.getByRole("row", { name: /support chat/ })).toContainText("1");
    await lookOver(page, info, "people");
    await usage.getByLabel("By").selectOption("all");
    await expect(usage.getByRole("row", { name: /support chat/ }).first()).toContainText(new Date().toISOString().slice(0, 10));
  });

  await test.step("the CSV has what the table has", async () => {
    const waiting = page.waitForEvent("download");
    await usage.getByRole("button", { name: "Download CSV" }).click();
    const text = readFileSync(await (await waiting).path(), "utf8");
    expect(text).toMatch(/^day,key,team,project,model,requests,inputTokens,outputTokens,usd,unpriced\r\n/);
    expect(text).toContain('"support chat","search"');
    expect(text).not.toContain(key);
  });

  await test.step("lower limits refuse the next request", async () => {
    await page.getByRole("button", { name: "Change the limits of support chat" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Tokens a day, at most").fill("1");
    await dialog.getByRole("button", { name: "Set the limits" }).click();
    await expect(dialog).toHaveCount(0);
    expect((await ask("cascade/default", 1)).status()).toBe(429);
    await expect(page.getByRole("row", { name: /support chat/ }).first()).toContainText("of 1 tokens a day");
  });

  await test.step("a gateway that does not answer is an error with a retry", async () => {
    await page.route("**/api/trpc/gatewayKeys.usage**", (route) => route.abort());
    await usage.getByLabel("From (UTC)").fill("2026-01-01");
    await expect(usage.getByRole("button", { name: "Try again" })).toBeVisible({ timeout: 60_000 });
  });
});
