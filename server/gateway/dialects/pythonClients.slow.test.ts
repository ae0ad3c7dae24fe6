import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import { TestEmulators } from "@/server/emulator/testEmulators";
import { freePort } from "@/server/testing/freePorts";
import { condition, needs, program, skipWithout } from "../../../scripts/needs.mjs";
import { pythonWith } from "../testing/installedClients";
import { emulatedStages, LARGE } from "../testing/testEmulatedStages";

const run = promisify(execFile);
const clients = ["openai==3.57.0", "anthropic==2.14.0"];
const runLimitMs = 300_000;

/** Calls all three APIs with the official clients and prints what they read, as JSON. */
const script = `
import json, sys
import anthropic, openai

url, model = sys.argv[1], sys.argv[2]
chat = openai.OpenAI(base_url=url + "/v1", api_key="none", max_retries=0)
claude = anthropic.Anthropic(base_url=url, api_key="none", max_retries=0)
question = "[prompt short] How is the weather?"
messages = [{"role": "user", "content": question}]
schema = {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1}}, "required": ["city", "days"]}
read = {}

read["chat"] = chat.chat.completions.create(model=model, messages=messages).choices[0].message.content
message = claude.messages.create(model=model, max_tokens=5000, messages=messages)
read["messages"] = message.content[0].text
with claude.messages.stream(model=model, max_tokens=5000, messages=messages) as stream:
    read["messages streamed"] = "".join(stream.text_stream)
    read["messages tokens"] = stream.get_final_message().usage.output_tokens == message.usage.output_tokens
tools = [{"name": "get_weather", "input_schema": schema}]
called = claude.messages.create(model=model, max_tokens=5000, messages=messages, tools=tools, tool_choice={"type": "any"})
read["messages call"] = [[block.name, block.input] for block in called.content if block.type == "tool_use"]
try:
    claude.messages.create(model="none", max_tokens=10, messages=messages)
except anthropic.NotFoundError as error:
    read["messages error"] = error.body["error"]["type"]

response = chat.responses.create(model=model, input=question)
read["responses"] = response.output_text
with chat.responses.stream(model=model, input=question) as stream:
    streamed = "".join(event.delta for event in stream if event.type == "response.output_text.delta")
    read["responses streamed"] = streamed
    read["responses tokens"] = stream.get_final_response().usage.output_tokens == response.usage.output_tokens
functions = [{"type": "function", "name": "get_weather", "parameters": schema, "strict": False}]
called = chat.responses.create(model=model, input=question, tools=functions, tool_choice="required")
read["responses call"] = [[item.name, json.loads(item.arguments)] for item in called.output if item.type == "function_call"]
try:
    chat.responses.create(model="none", input=question)
except openai.NotFoundError as error:
    read["responses error"] = error.code

print(json.dumps(read))
`;

it("the official Python clients read answers, streams, calls and errors of all three APIs", {
  timeout: 1_500_000,
  ...needs(program("python3")),
}, async (context) => {
  const python = await pythonWith(clients);
  skipWithout(context, condition("Python packages openai and anthropic", python !== null));
  const emulators = new TestEmulators(await freePort());
  onTestFinished(() => emulators.end());
  const { dataUrl } = await emulatedStages(emulators);
  const { stdout } = await run(python ?? "", ["-c", script, dataUrl, "cascade/test"], { timeout: runLimitMs });
  const text = expect.stringContaining(`[emulated answer short by ${LARGE}]`);
  const call = [["get_weather", { city: "text", days: 1 }]];
  expect(JSON.parse(stdout)).toEqual({
    chat: text,
    messages: text,
    "messages streamed": text,
    "messages tokens": true,
    "messages call": call,
    "messages error": "not_found_error",
    responses: text,
    "responses streamed": text,
    "responses tokens": true,
    "responses call": call,
    "responses error": "model_not_found",
  });
});
