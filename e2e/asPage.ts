import type { APIResponse, Page } from "@playwright/test";

/** Requests a path of the studio as the signed-in page does: with its cookie and its page token. */
export async function getAsPage(page: Page, url: string): Promise<APIResponse> {
  const token = (await page.evaluate(() => window.localStorage.getItem("weir.pageToken"))) ?? "";
  return page.request.get(url, { headers: { "x-weir-page-token": token } });
}
