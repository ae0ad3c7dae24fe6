// `npm run docs:pictures`: follows the Start guide in Chromium on a studio with its own state folder, and saves pictures of it
// for the documentation. A failed step means that the guide and the product differ.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkNode, ensureInstalled, root, say } from "./prepare.mjs";

checkNode();
ensureInstalled();
const playwright = await import("@playwright/test");

const folder = join(root, "docs", "public", "pictures");
const seconds = 1000;
const { chromium } = playwright;
// Planning takes a while on a busy machine.
const expect = playwright.expect.configure({ timeout: 120 * seconds });
/** Engine seconds per wall second: engines load in seconds. */
const timeScale = "2";

const stateDir = mkdtempSync(join(tmpdir(), "weir-pictures-"));
mkdirSync(folder, { recursive: true });
const launcher = await startStudio();
let browser;
try {
  const link = await signInLink(launcher);
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM_PATH ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--force-color-profile=srgb"],
  });
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, colorScheme: "light" });
  page.setDefaultTimeout(60 * seconds);
  await doStartGuide(page, link);
} finally {
  await browser?.close();
  await end(launcher);
  rmSync(stateDir, { recursive: true, force: true });
}

/** The steps of docs/start, in its order. */
async function doStartGuide(page, link) {
  await page.goto(link);
  await expect(page).toHaveURL(/\/plan/);
  await setFloor(page, 60);
  await keep(page, "plan");
  await page.getByRole("region", { name: "The plan" }).screenshot({ path: join(folder, "the-plan.png"), animations: "disabled" });
  await page.getByRole("button", { name: "Review and apply" }).click();
  await expect(page).toHaveURL(/\/apply\/[0-9a-f]{64}/);
  await expect(page.getByRole("button", { name: "Approve", exact: true })).toBeEnabled();
  const first = page.url();
  await keep(page, "review");
  await approveAndApply(page);
  await keep(page, "applied");
  await page.getByRole("link", { name: "Live" }).click();
  await page.getByLabel("Rate", { exact: true }).fill("15");
  await page.getByLabel("For", { exact: true }).fill("600");
  await page.getByRole("button", { name: "Start load" }).click();
  await expect(page.getByTestId("load-status")).toContainText("running");
  // Charts need some traffic before they show anything.
  await page.waitForTimeout(45 * seconds);
  await keep(page, "live");
  await page.getByRole("button", { name: "Stop load" }).click();
  await page.getByRole("link", { name: "Plan", exact: true }).click();
  await setFloor(page, 55);
  await page.getByRole("button", { name: "Review and apply" }).click();
  await approveAndApply(page);
  await page.goto(first);
  await page.getByRole("button", { name: "Roll back", exact: true }).click();
  await expect(page.getByTestId("application-state").first()).toContainText("done", { timeout: 180 * seconds });
}

async function setFloor(page, floor) {
  const field = page.getByRole("spinbutton", { name: "Quality floor" });
  await field.fill(String(floor));
  await field.press("Enter");
  await expect(page.getByTestId("figure-solved")).toHaveText(/\d/);
}

async function approveAndApply(page) {
  await page.getByRole("button", { name: "Approve", exact: true }).click();
  await page.getByRole("button", { name: "Apply", exact: true }).click();
  await expect(page.getByTestId("application-state").first()).toContainText("done", { timeout: 180 * seconds });
}

/** Saves a picture of the window after late figures have arrived. */
async function keep(page, name) {
  await page.mouse.move(0, 0);
  await page.waitForTimeout(3 * seconds);
  await page.evaluate(() => window.scrollTo(0, 0));
  await page.screenshot({ path: join(folder, `${name}.png`), animations: "disabled" });
  say(`docs/public/pictures/${name}.png`);
}

async function startStudio() {
  const names = ["WEIR_STUDIO_PORT", "WEIR_GATEWAY_PORT", "WEIR_GATEWAY_ADMIN_PORT", "WEIR_EMULATOR_PORT", "WEIR_DCGM_PORT"];
  const ports = await Promise.all(names.map(freePort));
  const environment = {
    ...process.env,
    ...Object.fromEntries(names.map((name, index) => [name, String(ports[index])])),
    WEIR_STATE_DIR: stateDir,
    WEIR_TIME_SCALE: timeScale,
  };
  return spawn(process.execPath, [join(root, "scripts", "studio.mjs")], {
    cwd: root,
    env: environment,
    stdio: ["ignore", "pipe", "inherit"],
  });
}

function freePort() {
  const server = createServer();
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** The link that the launcher prints once everything runs. */
function signInLink(child) {
  return new Promise((resolve, reject) => {
    let text = "";
    child.stdout.on("data", (chunk) => {
      text += chunk;
      const [link] = /http:\S+token=\S+/.exec(text) ?? [];
      if (link !== undefined) resolve(link);
    });
    child.once("exit", (code) => reject(new Error(`The studio ended with ${code} before it printed a sign-in link.`)));
  });
}

function end(child) {
  if (child.exitCode !== null) return;
  child.kill("SIGTERM");
  return new Promise((ended) => child.once("exit", ended));
}
