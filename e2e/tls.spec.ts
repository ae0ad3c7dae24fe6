import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lackOf, program } from "../scripts/needs.mjs";
import { testCertificates } from "../server/contracts/testing/testCertificates";
import { signIn } from "./asPage";
import { expect, test } from "./fixtures";

const certificates = testCertificates();
const folder = mkdtempSync(join(tmpdir(), "weir-e2e-tls-"));
const files = { WEIR_TLS_CERT_FILE: join(folder, "cert.pem"), WEIR_TLS_KEY_FILE: join(folder, "key.pem") };
writeFileSync(files.WEIR_TLS_CERT_FILE, certificates?.good.cert ?? "");
writeFileSync(files.WEIR_TLS_KEY_FILE, certificates?.good.key ?? "", { mode: 0o600 });

test.use({ studioEnvironment: files, ignoreHTTPSErrors: true });
test.skip(certificates === null, lackOf([program("openssl")]).join(", "));

test("with a certificate, studio and gateway speak TLS, and the session cookie is bound to the host", async ({ page, studio, request }) => {
  const secure = studio.url.replace("http:", "https:");
  expect(studio.signInLink.startsWith(secure)).toBe(true);
  await signIn(page, studio.signInLink);
  await expect(page).toHaveURL(`${secure}/plan`);
  await expect(page.getByRole("heading", { level: 1 }).first()).toBeVisible();
  const session = (await page.context().cookies(secure)).filter(({ name }) => name.includes("weir_session"));
  expect(session).toEqual([
    expect.objectContaining({ name: "__Host-weir_session", path: "/", secure: true, httpOnly: true, sameSite: "Strict" }),
  ]);
  const plain = await request.get(`${studio.url}/plan?a=1`, { maxRedirects: 0 });
  expect([plain.status(), plain.headers().location]).toEqual([308, `${secure}/plan?a=1`]);
  const over = await request.get(`${secure}/api/health`);
  expect([over.status(), over.headers()["strict-transport-security"]]).toEqual([200, "max-age=31536000"]);
  expect((await request.get(`${studio.gatewayUrl.replace("http:", "https:")}/health`)).status()).toBe(200);
  // The studio itself asks the gateway in plain text, on this machine.
  const metrics = async () => (await request.get(`${secure}/metrics`)).text();
  await expect.poll(metrics).toMatch(/weir_studio_scrape_seconds_count\{kind="gateway",outcome="ok"\} [1-9]/);
});
