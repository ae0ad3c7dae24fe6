import { type APIResponse, expect, type Page } from "@playwright/test";

/** Requests a path of the studio as the signed-in page does: with its cookie and its page token. */
export async function getAsPage(page: Page, url: string): Promise<APIResponse> {
  const token = (await page.evaluate(() => window.localStorage.getItem("weir.pageToken"))) ?? "";
  return page.request.get(url, { headers: { "x-weir-page-token": token } });
}

/** Opens a sign-in link and waits until the page has traded it for a session. */
export async function signIn(page: Page, link: string): Promise<void> {
  // From the sign-in page the link would change the fragment alone, which a page that is still starting may set back.
  await page.goto("about:blank");
  await page.goto(link);
  await expect(page).not.toHaveURL(/\/sign-in/, { timeout: 30_000 });
}
