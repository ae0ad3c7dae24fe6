// Scripts that ask a gateway as applications do, by frameworks that are too large for this repository's own packages. Each takes the address
// of a gateway, that of one whose answers take too long, and names of models, and prints as JSON what every client read.

export const pythonPackages = ["langchain-openai==1.7.4", "llama-index-llms-openai-like==0.8.1", "litellm==1.110.2"];

export const pythonClients = `
import json, os, sys

# Prices of hosted models, which it would fetch.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
import litellm
from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI
from llama_index.core.llms import ChatMessage
from llama_index.core.prompts import PromptTemplate
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike
from pydantic import BaseModel, Field

litellm.suppress_debug_info = True
url, slow = sys.argv[1] + "/v1", sys.argv[2] + "/v1"
question = "[prompt short] How is the weather?"
messages = [{"role": "user", "content": question}]
said = ChatMessage(role="user", content=question)


class Forecast(BaseModel):
    """How the weather will be."""
    city: str
    days: int = Field(ge=1)


schema = Forecast.model_json_schema()
function = {"type": "function", "function": {"name": "get_weather", "parameters": schema}}


def langchain(model):
    def llm(base=url, **more):
        return ChatOpenAI(base_url=base, api_key="none", model=more.pop("name", model), max_retries=0, **more)

    def called():
        calls = llm().bind_tools([function], tool_choice="any").invoke(question).tool_calls
        return [[call["name"], call["args"]] for call in calls]

    return {
        "plain": lambda: llm().invoke(question).content,
        "second turn": lambda: llm().invoke([HumanMessage(question), llm().invoke(question), HumanMessage(question)]).content,
        "stream": lambda: "".join(chunk.content for chunk in llm().stream(question)),
        "tools": called,
        "structured": lambda: llm().with_structured_output(Forecast, method="json_schema").invoke(question).model_dump(),
        "error": lambda: llm(name="none").invoke(question),
        "abort": lambda: llm(base=slow, timeout=1).invoke(question),
    }


def llamaindex(model):
    def llm(base=url, **more):
        own = {"model": model, "api_key": "none", "max_retries": 0, "is_chat_model": True, "is_function_calling_model": True}
        return OpenAILike(api_base=base, **{**own, **more})

    def called():
        tool = FunctionTool.from_defaults(fn=lambda city, days: None, name="get_weather", description="Weather", fn_schema=Forecast)
        answer = llm().chat_with_tools([tool], user_msg=question, tool_required=True)
        return [[call.tool_name, call.tool_kwargs] for call in llm().get_tool_calls_from_response(answer)]

    return {
        "plain": lambda: llm().complete(question).text,
        "second turn": lambda: llm().chat([said, llm().chat([said]).message, said]).message.content,
        "stream": lambda: "".join(chunk.delta or "" for chunk in llm().stream_complete(question)),
        "tools": called,
        "structured": lambda: llm().structured_predict(Forecast, PromptTemplate(question)).model_dump(),
        "error": lambda: llm(model="none").complete(question),
        "abort": lambda: llm(base=slow, timeout=1).complete(question),
    }


def lite(model):
    def ask(base=url, name=model, **more):
        own = {"messages": messages, "max_retries": 0}
        return litellm.completion(model="openai/" + name, api_base=base, api_key="none", **{**own, **more})

    def called():
        calls = ask(tools=[function], tool_choice="required").choices[0].message.tool_calls
        return [[call.function.name, json.loads(call.function.arguments)] for call in calls]

    form = {"type": "json_schema", "json_schema": {"name": "forecast", "schema": schema}}
    return {
        "plain": lambda: ask().choices[0].message.content,
        "second turn": lambda: ask(messages=[*messages, ask().choices[0].message.model_dump(), *messages]).choices[0].message.content,
        "stream": lambda: "".join(chunk.choices[0].delta.content or "" for chunk in ask(stream=True)),
        "tools": called,
        "structured": lambda: json.loads(ask(response_format=form).choices[0].message.content),
        "error": lambda: ask(name="none"),
        "abort": lambda: ask(base=slow, timeout=1),
    }


def cell(ask):
    try:
        return ask()
    except Exception as error:
        return {"raised": type(error).__name__, "status": getattr(error, "status_code", None), "message": str(error)}


clients = {"LangChain": langchain, "LlamaIndex": llamaindex, "LiteLLM": lite}
cells = lambda of, model: {what: cell(ask) for what, ask in of(model).items()}
print(json.dumps({name: {model: cells(of, model) for model in sys.argv[3:]} for name, of in clients.items()}))
`;

export const nodePackages = [
  "ai@6.0.326",
  "@ai-sdk/openai@3.0.141",
  "@ai-sdk/openai-compatible@2.0.92",
  "@langchain/core@1.4.0",
  "@langchain/openai@1.5.8",
];

export const nodeClients = `
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { ChatOpenAI } from "@langchain/openai";
import { generateText, jsonSchema, Output, streamText, tool } from "ai";

const [url, slow, ...models] = process.argv.slice(2);
const question = "[prompt short] How is the weather?";
const schema = {
  type: "object",
  properties: { city: { type: "string" }, days: { type: "integer", minimum: 1 } },
  required: ["city", "days"],
  additionalProperties: false,
};

function aiSdk(provider) {
  return (model) => {
    const base = { model: provider(url)(model), prompt: question, maxRetries: 0 };
    return {
      plain: async () => (await generateText(base)).text,
      async "second turn"() {
        const { prompt, ...rest } = base;
        const messages = [{ role: "user", content: prompt }];
        const { response } = await generateText({ ...rest, messages });
        return (await generateText({ ...rest, messages: [...messages, ...response.messages, ...messages] })).text;
      },
      async stream() {
        let text = "";
        for await (const piece of streamText({ ...base, onError() {} }).textStream) text += piece;
        return text;
      },
      async tools() {
        const tools = { get_weather: tool({ inputSchema: jsonSchema(schema) }) };
        const { toolCalls } = await generateText({ ...base, tools, toolChoice: "required" });
        return toolCalls.map(({ toolName, input }) => [toolName, input]);
      },
      structured: async () => (await generateText({ ...base, output: Output.object({ schema: jsonSchema(schema) }) })).output,
      error: () => generateText({ ...base, model: provider(url)("none") }),
      abort: () => generateText({ ...base, model: provider(slow)(model), abortSignal: AbortSignal.timeout(1000) }),
    };
  };
}

function langChain(model) {
  const llm = (base = url, name = model) =>
    new ChatOpenAI({ model: name, apiKey: "none", maxRetries: 0, configuration: { baseURL: \`\${base}/v1\` } });
  const functions = [{ type: "function", function: { name: "get_weather", parameters: schema } }];
  return {
    plain: async () => (await llm().invoke(question)).content,
    "second turn": async () => (await llm().invoke([["user", question], await llm().invoke(question), ["user", question]])).content,
    async stream() {
      let text = "";
      for await (const { content } of await llm().stream(question)) text += content;
      return text;
    },
    async tools() {
      const { tool_calls: calls } = await llm().bindTools(functions, { tool_choice: "required" }).invoke(question);
      return calls.map(({ name, args }) => [name, args]);
    },
    structured: () => llm().withStructuredOutput(schema, { name: "forecast", method: "jsonSchema" }).invoke(question),
    error: () => llm(url, "none").invoke(question),
    abort: () => llm(slow).invoke(question, { signal: AbortSignal.timeout(1000) }),
  };
}

const clients = {
  "AI SDK, openai-compatible": aiSdk((base) => {
    const own = { name: "weir", apiKey: "none", supportsStructuredOutputs: true };
    return createOpenAICompatible({ ...own, baseURL: \`\${base}/v1\` });
  }),
  "AI SDK, openai (Responses)": aiSdk((base) => createOpenAI({ baseURL: \`\${base}/v1\`, apiKey: "none" })),
  "AI SDK, openai (chat)": aiSdk((base) => createOpenAI({ baseURL: \`\${base}/v1\`, apiKey: "none" }).chat),
  LangChain: langChain,
};

async function cell(ask) {
  try {
    return await ask();
  } catch (error) {
    return { raised: error.name, status: error.statusCode ?? error.status ?? null, message: error.message };
  }
}

const read = {};
for (const [name, of] of Object.entries(clients)) {
  read[name] = {};
  for (const model of models) {
    read[name][model] = {};
    for (const [what, ask] of Object.entries(of(model))) read[name][model][what] = await cell(ask);
  }
}
process.stdout.write(JSON.stringify(read));
`;
