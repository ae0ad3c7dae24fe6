import { shellQuoted } from "@/solver/wording/shellText";
import type { SnippetLanguage } from "../address/ensemblesCodec";

export const snippetNames: Readonly<Record<SnippetLanguage, string>> = { curl: "curl", python: "Python", typescript: "TypeScript" };

/** How an application calls an ensemble. @param baseUrl of the gateway's API, with `/v1`. */
export function onlineSnippet(language: SnippetLanguage, { baseUrl, name }: { readonly baseUrl: string; readonly name: string }): string {
  const model = `ensemble/${name}`;
  const question = "Which planet is largest? A: Mars, B: Jupiter. End with: Answer: <letter>";
  switch (language) {
    case "curl":
      return [
        `curl -i ${shellQuoted(`${baseUrl}/chat/completions`)} \\`,
        "  -H 'content-type: application/json' \\",
        `  -d ${shellQuoted(JSON.stringify({ model, messages: [{ role: "user", content: question }] }))}`,
      ].join("\n");
    case "python":
      return [
        "from openai import OpenAI",
        "",
        `client = OpenAI(base_url=${JSON.stringify(baseUrl)}, api_key="unused")`,
        "answer = client.chat.completions.with_raw_response.create(",
        `    model=${JSON.stringify(model)},`,
        `    messages=[{"role": "user", "content": "${question}"}],`,
        ")",
        'print(answer.headers["x-weir-ensemble-outcome"], answer.headers["x-weir-ensemble-votes"])',
        "print(answer.parse().choices[0].message.content)",
      ].join("\n");
    case "typescript":
      return [
        'import OpenAI from "openai";',
        "",
        `const client = new OpenAI({ baseURL: ${JSON.stringify(baseUrl)}, apiKey: "unused" });`,
        "const { data, response } = await client.chat.completions",
        "  .create({",
        `    model: ${JSON.stringify(model)},`,
        `    messages: [{ role: "user", content: "${question}" }],`,
        "  })",
        "  .withResponse();",
        'console.log(response.headers.get("x-weir-ensemble-outcome"), response.headers.get("x-weir-ensemble-votes"));',
        "console.log(data.choices[0]?.message.content);",
      ].join("\n");
  }
}
