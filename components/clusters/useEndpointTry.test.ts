import { describe, expect, it } from "vitest";
import { parsePasted } from "@/server/endpoints/parsePasted";
import { withoutKeys } from "./useEndpointTry";

describe("pasted text without its keys", () => {
  it("holds no key of a header, an option, an address or a bare word, however it is written", () => {
    const lines = [
      "curl -H 'Authorization: Bearer my-own-secret' http://a:8000/v1/models",
      'curl --header "authorization: my-own-secret" http://b:8000',
      "curl -u my-own-secret http://c:8000",
      "curl --oauth2-bearer=my-own-secret http://d:8000",
      "http://me:my-own-secret@e:8000",
      "curl -H 'x-api-key: my-own-secret' http://f:8000",
      "sk-my-own-secret http://g:8000",
    ];
    expect(withoutKeys(lines.join("\n"))).not.toContain("my-own-secret");
  });

  it("keeps addresses, lines and the names of variables as they are", () => {
    const text = "http://gpu-1:8000/v1, gpu-2:8000 # ours\n\ncurl -H 'Authorization: Bearer $WEIR_ENGINE_KEY' \\\n http://gpu-3:8000";
    expect(withoutKeys(text)).toBe(text);
  });

  it("still tells the studio that a key stood there", () => {
    const read = parsePasted(withoutKeys("curl -H 'Authorization: Bearer sk-123456789' http://gpu-1:8000"));
    expect(read).toMatchObject({ ok: true, endpoints: [{ url: "http://gpu-1:8000" }] });
    expect(read.ok && read.notes.join()).toContain("Line 1 holds a key");
  });
});
