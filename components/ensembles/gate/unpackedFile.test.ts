import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { unpackedFile } from "./unpackedFile";

const packed = (bytes: Uint8Array, name: string): File => new File([new Uint8Array(bytes)], name);

describe("unpackedFile", () => {
  it("unpacks what is gzipped and takes the end off its name", async () => {
    const file = await unpackedFile(packed(gzipSync("prompt_id,model\nq1,a\n"), "answers.csv.gz"));
    expect(file.name).toBe("answers.csv");
    expect(await file.text()).toBe("prompt_id,model\nq1,a\n");
  });

  it("leaves any other file alone", async () => {
    const file = packed(Buffer.from("a"), "answers.csv");
    expect(await unpackedFile(file)).toBe(file);
  });

  it("says so where a file is cut off, or is none", async () => {
    const whole = gzipSync("x".repeat(10_000));
    await expect(unpackedFile(packed(whole.subarray(0, whole.length - 12), "a.csv.gz"))).rejects.toThrow("cut off, or no gzip file");
    await expect(unpackedFile(packed(Buffer.from("plain"), "a.csv.gz"))).rejects.toThrow("cut off, or no gzip file");
  });

  it("unpacks no more than may be sent", async () => {
    const bomb = gzipSync(Buffer.alloc(70 * 1024 * 1024));
    await expect(unpackedFile(packed(bomb, "a.csv.gz"))).rejects.toThrow("64 MB");
  });
});
