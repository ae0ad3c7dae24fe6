import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The certificate and key of a TLS server, in PEM. */
export interface ServerCertificate {
  readonly key: string;
  readonly cert: string;
}

export interface TestCertificates {
  /** The authority of the first three. */
  readonly ca: string;
  readonly good: ServerCertificate;
  readonly expired: ServerCertificate;
  /** For a different host. */
  readonly elsewhere: ServerCertificate;
}

/** Certificates of a test authority for 127.0.0.1, made by openssl; null, with a logged line, if there is no openssl. */
export function testCertificates(): TestCertificates | null {
  const folder = mkdtempSync(join(tmpdir(), "weir-certificates-"));
  const at = (name: string): string => join(folder, name);
  const openssl = (...given: readonly string[]): void => void execFileSync("openssl", given, { cwd: folder, stdio: "pipe" });
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const signed = (name: string, subject: string, days: number): ServerCertificate => {
    openssl("req", ...newKey, "-keyout", `${name}.key`, "-out", `${name}.csr`, "-subj", `/CN=${name}`);
    writeFileSync(at("names"), `subjectAltName=${subject}`);
    const by = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"];
    openssl("x509", "-req", "-in", `${name}.csr`, ...by, "-days", String(days), "-extfile", "names", "-out", `${name}.pem`);
    return { key: readFileSync(at(`${name}.key`), "utf8"), cert: readFileSync(at(`${name}.pem`), "utf8") };
  };
  try {
    openssl("req", "-x509", ...newKey, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=test authority");
    const here = "IP:127.0.0.1,DNS:localhost";
    const certificates = { good: signed("good", here, 2), expired: signed("expired", here, -1), elsewhere: signed("x", "DNS:x.test", 2) };
    return { ca: readFileSync(at("ca.pem"), "utf8"), ...certificates };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    console.warn("openssl is not there: what needs certificates is not tested.");
    return null;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
