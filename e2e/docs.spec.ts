import { signIn } from "./asPage";
import { expect, sharedTest as test } from "./fixtures";

test("a newcomer opens Help in the studio, goes from page to page, finds a word, and asks no other host", async ({
  page,
  studio,
  context,
}) => {
  const elsewhere: string[] = [];
  context.on("request", (request) => {
    if (!request.url().startsWith(studio.url) && !request.url().startsWith("data:")) elsewhere.push(request.url());
  });
  await signIn(page, studio.signInLink);
  const opened = context.waitForEvent("page");
  await page.getByRole("link", { name: "Help" }).click();
  const help = await opened;
  // The documentation's own script adds the slash once it has started.
  await expect(help).toHaveURL(/\/docs\/?$/);
  await help.getByRole("link", { name: "Start in ten minutes" }).click();
  await expect(help.getByRole("heading", { level: 1 })).toContainText("Ten minutes");
  await help.getByRole("button", { name: /search/i }).click();
  await help.getByRole("searchbox").fill("winner's curse");
  await help
    .getByRole("option", { name: /Quality floor/ })
    .first()
    .click({ timeout: 15_000 });
  await expect(help).toHaveURL(/\/docs\/concepts\/quality-floor/);
  await expect(help.getByText("winner's curse").first()).toBeVisible();
  const missing = await help.goto(`${studio.url}/docs/no/such/page`);
  expect(missing?.status()).toBe(404);
  expect(elsewhere).toEqual([]);
});
