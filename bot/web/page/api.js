// Shows the OpenAPI document of the HTTP API: every route, what is sent to it, and what it answers.

const at = (id) => document.getElementById(id);

function h(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children.filter((child) => child !== null));
  return made;
}

function typeOf(schema, document_) {
  if (!schema) return "";
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.anyOf) return schema.anyOf.map((one) => typeOf(one, document_)).join(" or ");
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.type === "array") return `list of ${typeOf(schema.items, document_)}`;
  return schema.type ?? "anything";
}

function rows(pairs) {
  return h("table", {}, h("tbody", {}, ...pairs.map(([name, type, about, required]) =>
    h("tr", {}, h("td", {}, h("code", {}, name), required ? "" : h("span", { class: "optional" }, " optional")),
      h("td", {}, type), h("td", {}, about ?? "")))));
}

function fields(schema, document_) {
  const name = schema?.$ref?.split("/").pop();
  const found = name ? document_.components.schemas[name] : schema;
  if (!found?.properties) return h("p", {}, typeOf(schema, document_));
  const needed = new Set(found.required ?? []);
  return h("div", {}, h("p", {}, h("code", {}, name ?? "object"), found.description ? `: ${found.description}` : ""),
    rows(Object.entries(found.properties).map(([key, one]) => [key, typeOf(one, document_), one.description, needed.has(key)])));
}

function route(path, method, one, document_) {
  const sent = Object.values(one.requestBody?.content ?? {})[0]?.schema;
  const [status, answer] = Object.entries(one.responses).find(([code]) => code.startsWith("2"));
  const got = answer.content?.["application/json"]?.schema;
  const parameters = (one.parameters ?? []).map((each) => [`${each.name} (${each.in})`, typeOf(each.schema, document_), each.description, each.required]);
  return h("details", {}, h("summary", {}, h("b", {}, method.toUpperCase()), h("code", {}, `/api/v1${path}`)),
    h("p", {}, one.description ?? ""), parameters.length ? rows(parameters) : null,
    sent ? h("h3", {}, "Sent") : null, sent ? fields(sent, document_) : null,
    h("h3", {}, `Answered: ${status}`), got ? fields(got, document_) : h("p", {}, Object.keys(answer.content ?? {}).join(", ") || "nothing"));
}

async function show() {
  const response = await fetch("/docs/openapi.json");
  const found = await response.json();
  at("about").textContent = found.info.description;
  const byTag = new Map();
  for (const [path, methods] of Object.entries(found.paths)) {
    for (const [method, one] of Object.entries(methods)) {
      const tag = one.tags?.[0] ?? "more";
      if (!byTag.has(tag)) byTag.set(tag, []);
      byTag.get(tag).push(route(path, method, one, found));
    }
  }
  at("routes").replaceChildren(...[...byTag].map(([tag, routes]) => h("section", {}, h("h2", {}, tag), ...routes)));
}

show().catch((error) => { at("about").textContent = `The document could not be loaded: ${error.message}`; });
