import type { Page } from "@playwright/test";
import { accessible } from "./acts";
import { signIn } from "./asPage";
import { expect, test } from "./fixtures";

/** Engines of the cluster work this much faster than the wall's clock. */
const TIME_SCALE = 5;

test.use({ studioEnvironment: { WEIR_TIME_SCALE: String(TIME_SCALE) }, actionTimeout: 30_000 });

test("an operator turns a knob, compares and tries another plan, mirrors, panics and clears, and finds all of it in the audit", async ({
  page,
  studio,
}, info) => {
  test.setTimeout(400_000);
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  const show = async (name: string) => info.attach(name, { body: await page.screenshot({ fullPage: true }), contentType: "image/png" });
  await signIn(page, studio.signInLink);
  await expect(page).toHaveURL(/\/plan/);
  const planned = await planFor(page, 60);
  const other = await planFor(page, 55);
  expect(other).not.toBe(planned);
  await page.goto(`${studio.url}/apply/${planned}`);
  await page.getByRole("button", { name: "Apply", exact: true }).click();
  await expect(page.getByTestId("application-state").first()).toContainText("done", { timeout: 180_000 });

  const routing = page.getByTestId("routing");
  await test.step("put load on the plan in force", async () => {
    await page.getByRole("link", { name: "Live" }).click();
    await expect(routing).toContainText(`plan ${planned.slice(0, 8)}`);
    await expect(routing).toContainText("No other plan is being tried.");
    await show("nothing runs");
    await page.getByLabel("Rate", { exact: true }).fill("4");
    await page.getByLabel("For", { exact: true }).fill("3000");
    await page.getByRole("button", { name: "Start load" }).click();
    await expect(page.getByTestId("load-status")).toContainText("running");
  });

  await test.step("turn a threshold inside its approved range: requests carry the new policy's hash", async () => {
    const before = await ask(studio.gatewayUrl);
    const knobs = page.getByTestId("knobs");
    await knobs.getByRole("button", { name: "Set controls" }).click();
    // Below the slack, where the plan predicts one.
    const singly = knobs.getByText("Each control by itself");
    if (await singly.isVisible()) await singly.click();
    const thumb = knobs.getByRole("slider", { name: /^Accept / }).first();
    const standing = Number(await thumb.getAttribute("aria-valuenow"));
    await thumb.focus();
    await page.keyboard.press(standing < Number(await thumb.getAttribute("aria-valuemax")) ? "ArrowRight" : "ArrowLeft");
    await expect(knobs).toContainText(`in force ${standing}, planned ${standing}`);
    await expect(knobs.getByTestId("control-forecast")).toContainText("Simulated on the engines that serve now", { timeout: 30_000 });
    await show("a knob is moved");
    await knobs.getByRole("button", { name: "Apply controls" }).click();
    await expect(knobs.getByRole("status")).toContainText("the policy is now");
    const hash = (await knobs.getByRole("status").getByRole("code").innerText()).trim();
    await expect(routing.getByTestId("policy-hash")).toHaveText(hash);
    await expect(routing).toContainText("set by hand");
    await expect(knobs.getByTestId("last-change")).toContainText("p95 end to end");
    const after = await ask(studio.gatewayUrl);
    expect(after.policy).not.toBe(before.policy);
    expect(after.policy?.startsWith(hash)).toBe(true);
    expect(after.plan).toBe(planned);
    await knobs.getByRole("button", { name: "Close controls" }).click();
  });

  await test.step("compare another plan on the same traffic, without asking anything for it", async () => {
    const shadow = page.getByTestId("shadow");
    await shadow.getByRole("button", { name: "Compare a plan" }).click();
    await shadow.getByLabel("Plan to compare").selectOption(other);
    await shadow.getByRole("button", { name: "Start shadow" }).click();
    await expect(shadow).toContainText(`${other.slice(0, 8)} on`);
    await expect.poll(() => countIn(shadow.innerText(), /on ([\d,]+) requests?/), { timeout: 60_000 }).toBeGreaterThan(20);
    await expect(shadow.getByRole("table")).toContainText("%");
  });

  await test.step("mirror half of the requests and see how every model scores", async () => {
    const mirror = page.getByTestId("mirror");
    await mirror.getByRole("button", { name: "Mirror requests" }).click();
    await mirror.getByLabel("Share of requests").fill("50");
    await mirror.getByRole("button", { name: "Start mirror" }).click();
    await expect(mirror).toContainText("50 % of the cascade's requests");
    await expect.poll(() => countIn(mirror.innerText(), /Went through all stages\s+([\d,]+)/), { timeout: 90_000 }).toBeGreaterThan(5);
    await expect(mirror.getByRole("figure").first()).toContainText(/\d+ answers? scored by judge, mean/);
    await expect(mirror.locator(".recharts-bar-rectangle").first()).toBeVisible();
  });

  await test.step("a browser that works at a twelfth of its speed still opens the panic dialog, which names what it does and the command", async () => {
    const cdp = await page.context().newCDPSession(page);
    await cdp.send("Emulation.setCPUThrottlingRate", { rate: 12 });
    const dialog = page.getByRole("dialog");
    await page.getByRole("button", { name: "Panic" }).click({ timeout: 45_000 });
    await expect(dialog.getByLabel("Model that is to answer everything")).toBeFocused({ timeout: 45_000 });
    await cdp.send("Emulation.setCPUThrottlingRate", { rate: 1 });
    await cdp.detach();
    await dialog.getByLabel("Reason").fill("slow but certain");
    await expect(dialog).toContainText("--reason 'slow but certain'");
    await expect(dialog).toContainText("To undo it: Clear panic");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Panic" }).click();
    await expect(dialog.getByLabel("Reason")).toHaveValue("slow but certain");
    await page.keyboard.press("Escape");
    await expect(dialog).toHaveCount(0);
  });

  await test.step("no state of the page breaks an accessibility rule, in light or dark, wide or narrow", async () => {
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await accessible(page);
      await show(`watched, ${colorScheme}`);
    }
    await page.setViewportSize({ width: 420, height: 900 });
    await accessible(page);
    await info.attach("watched, narrow", { body: await routing.screenshot(), contentType: "image/png" });
    await page.setViewportSize({ width: 1440, height: 960 });
    await page.emulateMedia({ colorScheme: "light" });
  });

  await test.step("try the other plan on half of the programs, and withdraw it", async () => {
    const canary = page.getByTestId("canary");
    await canary.getByRole("button", { name: "Try a plan" }).click();
    await canary.getByLabel("Approved plan to try").selectOption(other);
    await canary.getByLabel("Shares of programs, in %").fill("50, 100");
    await canary.getByLabel("Each step at least").fill("600");
    await show("a canary is being set up");
    await canary.getByRole("button", { name: "Start canary" }).click();
    await expect(canary).toContainText(`${other.slice(0, 8)} takes 50 % of programs`);
    await expect.poll(() => countIn(canary.innerText(), /([\d,]+) of 100 requests/), { timeout: 60_000 }).toBeGreaterThan(0);
    await accessible(page);
    await show("a canary runs");
    const knobs = page.getByTestId("knobs");
    await knobs.getByRole("button", { name: "Set controls" }).click();
    await expect(knobs).toContainText(`A change ends the canary of ${other.slice(0, 8)}`);
    await knobs.getByRole("button", { name: "Close controls" }).click();
    await canary.getByRole("button", { name: "Withdraw canary" }).click();
    await expect(canary).toContainText("withdrawn");
    expect((await ask(studio.gatewayUrl)).plan).toBe(planned);
  });

  await test.step("let the other plan take all and come into force, and roll the routing back", async () => {
    const canary = page.getByTestId("canary");
    await canary.getByRole("button", { name: "Try a plan" }).click();
    await canary.getByLabel("Shares of programs, in %").fill("100");
    await canary.getByLabel("Each step at least").fill("1");
    await canary.getByLabel("and at least").fill("5");
    await canary.getByRole("button", { name: "Start canary" }).click();
    await expect(canary).toContainText("promoted", { timeout: 60_000 });
    await expect(page.getByRole("banner")).toContainText(`runs ${other.slice(0, 8)}`);
    expect((await ask(studio.gatewayUrl)).plan).toBe(other);
    await routing.getByRole("button", { name: `Roll back routing to ${planned.slice(0, 8)}` }).click();
    await expect(page.getByRole("dialog")).toContainText(`by plan ${planned.slice(0, 8)} with policy`);
    await page.getByRole("dialog").getByRole("button", { name: "Roll back", exact: true }).click();
    await expect(page.getByRole("banner")).toContainText(`runs ${planned.slice(0, 8)}`);
    await expect(page.getByRole("dialog")).toHaveCount(0);
    expect((await ask(studio.gatewayUrl)).plan).toBe(planned);
    await expect(routing).toContainText("set by hand");
  });

  await test.step("panic sends everything to the largest model until it is cleared, and every page says so", async () => {
    await page.getByRole("button", { name: "Panic" }).click();
    const dialog = page.getByRole("dialog");
    const model = await dialog.getByLabel("Model that is to answer everything").inputValue();
    const confirm = dialog.getByRole("button", { name: `Send everything to ${model}` });
    await expect(confirm).toBeDisabled();
    await dialog.getByLabel("Reason").fill("answers are wrong");
    await dialog.getByLabel("Type panic to confirm").fill("panic");
    await accessible(page);
    await show("panic is asked for");
    await confirm.click();
    await expect(page.getByTestId("panic")).toContainText(`every text request goes to ${model}. Why: answers are wrong. By local admin`);
    const answer = await ask(studio.gatewayUrl);
    expect([answer.status, answer.model, answer.policy]).toEqual([200, model, "panic"]);
    await expect(page.getByText("from before the panic").first()).toBeVisible();
    await page.getByRole("button", { name: "Panic", exact: true }).click();
    await expect(dialog).toContainText("Change the panic?");
    await expect(dialog).toContainText(`everything goes to ${model}, ordered by local admin`);
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: "Workloads" }).click();
    await expect(page.getByTestId("panic")).toBeVisible();
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await accessible(page);
      await show(`panic, ${colorScheme}`);
    }
    await page.emulateMedia({ colorScheme: "light" });
    await page.getByRole("button", { name: "Clear panic" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Clear", exact: true }).click();
    await expect(page.getByTestId("panic")).toHaveCount(0);
    expect((await ask(studio.gatewayUrl)).policy).not.toBe("panic");
  });

  await test.step("the audit has all of it, in the studio's words and in the gateway's", async () => {
    await page.getByRole("link", { name: "Live" }).click();
    await page.getByTestId("shadow").getByRole("button", { name: "End shadow" }).click();
    await expect(page.getByTestId("shadow")).toContainText("No other plan is being compared.");
    await page.getByTestId("mirror").getByRole("button", { name: "End mirror" }).click();
    await expect(page.getByTestId("mirror")).toContainText("No request is copied.");
    await page.getByRole("link", { name: "Apply", exact: true }).click();
    await expect(page.getByRole("table", { name: "Revisions" })).toContainText("Routing: rolled back.");
    const audit = page.getByRole("table", { name: "Audit" });
    const times = {
      "order knobs": 1,
      "knobs turned": 1,
      "order shadow": 1,
      "shadow started": 1,
      "shadow ended": 1,
      "mirror started": 1,
      "mirror ended": 1,
      "order canary": 2,
      "canary started": 2,
      "canary withdrawn": 1,
      "canary promoted": 1,
      "rolled back": 1,
      "order panic": 1,
      panic: 1,
      "panic lifted": 1,
    };
    for (const [action, count] of Object.entries(times)) {
      await expect(audit.getByRole("cell", { name: action, exact: true })).toHaveCount(count);
    }
    await show("audit");
  });
  expect(problems).toEqual([]);
});

/** Goes from the Plan page to a stored and approved plan; returns its hash. */
async function planFor(page: Page, floor: number): Promise<string> {
  await page.goto(`${new URL(page.url()).origin}/plan?policy=cascade&rate=4&floor=${floor}`);
  await expect(page.getByTestId("figure-solved")).toHaveText(/\d/, { timeout: 60_000 });
  await page.getByRole("button", { name: "Review and apply" }).click();
  await expect(page).toHaveURL(/\/apply\/[0-9a-f]{64}/);
  await page.getByRole("button", { name: "Approve", exact: true }).click();
  await expect(page.getByRole("button", { name: "Apply", exact: true })).toBeEnabled();
  return (await page.getByTestId("plan-hash").innerText()).trim();
}

/** Sends one client request; returns the values of the answer's headers. */
async function ask(gatewayUrl: string) {
  const response = await fetch(`${gatewayUrl}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "cascade/default", messages: [{ role: "user", content: "hello" }], max_tokens: 8 }),
  });
  await response.text();
  const header = (name: string) => response.headers.get(`x-weir-${name}`);
  return { status: response.status, plan: header("plan"), policy: header("policy"), model: header("model") };
}

/** The number in a text; 0 while there is none. */
async function countIn(text: Promise<string>, pattern: RegExp): Promise<number> {
  return Number(pattern.exec(await text)?.[1]?.replaceAll(",", "") ?? 0);
}
