import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { signIn } from "./asPage";
import { expect, sharedTest as test } from "./fixtures";

test("a GPU card keeps every figure as typed, and a figure that cannot be is said beside its field and never replaced", async ({
  page,
  studio,
}) => {
  const kept = () => JSON.parse(readFileSync(join(studio.stateDir, "cards.json"), "utf8"));
  await signIn(page, studio.signInLink);
  await page.goto(`${studio.url}/cards`);
  const dialog = page.getByRole("dialog", { name: "Add a GPU" });
  const add = dialog.getByRole("button", { name: "Add GPU" });
  const compute = dialog.getByLabel("Dense bf16 compute");

  await test.step("a small figure is left as it is typed", async () => {
    await page.getByRole("button", { name: "Add a GPU" }).click();
    await dialog.getByLabel("Id", { exact: true }).fill("cpu-core");
    await dialog.getByLabel("Name", { exact: true }).fill("One core");
    await dialog.getByLabel("Where the figures come from").fill("measured here");
    await compute.fill("0.05");
    await dialog.getByLabel("Memory", { exact: true }).fill("1.7");
    await dialog.getByLabel("Memory bandwidth").fill("0.0123");
    await dialog.getByLabel("That link, one way").fill("0.25");
    await dialog.getByLabel("Price").fill("0.0004");
    await expect(compute).toHaveValue("0.05");
  });

  await test.step("a figure that cannot be stays, with a sentence, and nothing can be saved", async () => {
    for (const text of ["0", "-3", ""]) {
      await compute.fill(text);
      await dialog.getByLabel("Id", { exact: true }).focus();
      await expect(compute).toHaveValue(text);
      await expect(dialog.getByText("A number above 0 and at most 1,000,000", { exact: true })).toBeVisible();
      await add.click();
      await expect(compute).toBeFocused();
      expect(existsSync(join(studio.stateDir, "cards.json"))).toBe(false);
    }
    await compute.fill("0.05");
    await expect(dialog.getByText(/A number above 0/)).toHaveCount(0);
  });

  await test.step("what is saved is what was typed", async () => {
    await add.click();
    await expect(dialog).toHaveCount(0);
    const { gpus, prices } = kept();
    expect(gpus).toMatchObject([
      { id: "cpu-core", denseFlopsBf16: 5e10, memoryBytes: 1.7 * 1024 ** 3, memoryBytesPerSecond: 1.23e10, linkBytesPerSecond: 2.5e8 },
    ]);
    expect(prices["cpu-core"].usdPerGpuHour).toBe(0.0004);
    const row = page.getByRole("row", { name: /cpu-core/ });
    await expect(row.getByText("0.05 / ", { exact: false })).toBeVisible();
    await expect(row.getByText("0.0123 TB/s")).toBeVisible();
    await expect(row.getByText("NVLink, 0.25 GB/s")).toBeVisible();
  });

  await test.step("a price above what is taken is not shortened to one that is", async () => {
    await page.getByRole("button", { name: "Change the price of cpu-core" }).click();
    const price = page.getByLabel("Price of cpu-core in dollars an hour");
    await price.fill("");
    await price.pressSequentially("20000");
    await page.getByLabel("Find a card").focus();
    await expect(price).toHaveValue("20000");
    await expect(page.getByText("A number above 0 and at most 1,000", { exact: true })).toBeVisible();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await expect(price).toBeFocused();
    await page.getByRole("button", { name: "Cancel" }).click();
    expect(kept().prices["cpu-core"].usdPerGpuHour).toBe(0.0004);
  });

  await test.step("a field that applies at once says what still applies", async () => {
    const memory = page.getByLabel("Memory for the engine");
    await memory.fill("105");
    await page.getByLabel("Find a card").focus();
    await expect(memory).toHaveValue("105");
    await expect(page.getByText("A number from 10 to 100; 90 still applies", { exact: true })).toBeVisible();
  });

  await test.step("part of a node is not rounded to a whole one", async () => {
    await page.goto(`${studio.url}/clusters?describe=open`);
    const nodes = page.getByLabel("Nodes", { exact: true });
    await nodes.fill("2.5");
    await page.getByLabel("Name", { exact: true }).fill("a cluster");
    await expect(nodes).toHaveValue("2.5");
    await expect(page.getByText("A whole number from 1 to 128", { exact: true })).toBeVisible();
    await page.getByRole("button", { name: "Describe cluster" }).click();
    await expect(nodes).toBeFocused();
  });
});
