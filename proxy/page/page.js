"use strict";

const $ = (id) => document.getElementById(id);
let model = null; // the served model's id; null until known

// formats say how each wire format words a request and where its answer has things. unit: scores lie in 0..1.
const texts = (q, p, cut, more) => ({ query: q, texts: p, truncate: cut, ...more });
const documents = (q, p) => ({ model, query: q, documents: p });
const formats = [
  {
    name: "NIM, logits", path: "/v1/ranking", score: "logit", unit: false,
    body: (q, p, cut) => ({ model, query: { text: q }, passages: p.map((text) => ({ text })), truncate: cut ? "END" : "NONE" }),
    entries: (a) => a.rankings,
  },
  { name: "Hugging Face TEI", path: "/rerank", score: "score", unit: true, body: (q, p, cut) => texts(q, p, cut, {}), entries: (a) => a },
  { name: "Hugging Face TEI, raw scores", path: "/rerank", score: "score", unit: false, body: (q, p, cut) => texts(q, p, cut, { raw_scores: true }), entries: (a) => a },
  { name: "Cohere v2 (always cuts)", path: "/v2/rerank", score: "relevance_score", unit: true, body: documents, entries: (a) => a.results },
  { name: "Jina, Cohere v1, vLLM (always cuts)", path: "/v1/rerank", score: "relevance_score", unit: true, body: documents, entries: (a) => a.results },
];

function show(id, text) { $(id).textContent = text; }

function element(tag, className, text) {
  const e = document.createElement(tag);
  e.className = className;
  if (text !== undefined) e.textContent = text;
  return e;
}

function passages() { return $("passages").value.split("\n").filter((line) => line.trim() !== ""); }

const quote = (s) => "'" + s.replaceAll("'", "'\\''") + "'";

function curl(url, body) {
  const key = $("key").value === "" ? "" : ` \\\n  -H "Authorization: Bearer $API_KEY"`;
  return `curl -sS ${quote(url)}${key} \\\n  -H 'Content-Type: application/json' \\\n  -d ${quote(body)}`;
}

async function post(path, body) {
  const headers = { "Content-Type": "application/json" };
  if ($("key").value !== "") headers.Authorization = "Bearer " + $("key").value;
  const start = performance.now();
  const response = await fetch(path, { method: "POST", headers, body });
  const raw = await response.text();
  return { response, raw, client: performance.now() - start };
}

// share is how much of a bar a score fills: itself in 0..1, else its place between the worst and the best of this answer.
function share(format, score, worst, best) {
  if (format.unit) return Math.min(1, Math.max(0, score));
  return best > worst ? (score - worst) / (best - worst) : 1;
}

function showResults(format, entries, sent) {
  const scores = entries.map((entry) => entry[format.score]);
  const worst = Math.min(...scores), best = Math.max(...scores);
  show("scale", format.unit ? "Bars show scores from 0 to 1." : "Bars run from the worst to the best score of this answer.");
  $("results").replaceChildren(...entries.map((entry) => {
    const item = element("li", ""), cell = element("div", ""), rail = element("div", "rail"), bar = element("div", "bar");
    bar.style.width = 100 * share(format, entry[format.score], worst, best) + "%";
    rail.setAttribute("aria-hidden", "true"); // the number below says the same
    rail.append(bar);
    cell.append(element("p", "text", sent[entry.index]), rail, element("p", "score", `${format.score} ${entry[format.score]} · passage ${entry.index}`));
    item.append(cell);
    return item;
  }));
}

// parts reads "name;dur=1.5, ..." of Server-Timing.
function parts(header) {
  const found = {};
  for (const part of (header || "").split(",")) {
    const [name, duration] = part.trim().split(";dur=");
    if (duration) found[name] = Number(duration);
  }
  return found;
}

function tokens(answer) {
  const n = answer.usage?.total_tokens ?? answer.meta?.tokens?.input_tokens;
  return n === undefined ? "not in this answer" : String(n);
}

function showFigures(response, client, answer) {
  const ms = (value) => value === undefined ? "not told" : value.toFixed(3) + " ms";
  const time = parts(response.headers.get("Server-Timing"));
  const figures = [
    ["Client, in this browser", ms(client)], ["Proxy, handler", ms(time.handler)], ["Task, model call", ms(time.model)],
    ["Task, queue", ms(time.queue)], ["Tokens, all pairs", tokens(answer)],
  ];
  $("figures").replaceChildren(...figures.map(([name, value]) => {
    const pair = element("div", "");
    pair.append(element("dt", "", name), element("dd", "", value));
    return pair;
  }));
}

// words finds the message in an error of any format.
function words(raw) {
  try {
    const e = JSON.parse(raw);
    return [e.message ?? e.error?.message ?? e.error, e.message && e.detail !== e.message ? e.detail : ""].filter((s) => s).join(": ");
  } catch {
    return raw;
  }
}

async function rank(event) {
  event.preventDefault();
  const format = formats[$("format").value], sent = passages();
  const body = JSON.stringify(format.body($("query").value, sent, $("truncate").checked));
  show("error", "");
  show("status", "Ranking…");
  show("curl", curl(new URL(format.path, location.href).href, body));
  $("rank").setAttribute("aria-disabled", "true");
  try {
    const { response, raw, client } = await post(format.path, body);
    show("raw", raw);
    $("sent").hidden = false;
    $("outcome").hidden = !response.ok;
    if (!response.ok) throw new Error(`${response.status}: ${words(raw)} (request ${response.headers.get("X-Request-ID")})`);
    const answer = JSON.parse(raw);
    showResults(format, format.entries(answer), sent);
    showFigures(response, client, answer);
    show("status", `${sent.length} passages ranked, best first.`);
  } catch (error) {
    show("status", "No ranking.");
    show("error", error.message);
  } finally {
    $("rank").removeAttribute("aria-disabled");
  }
}

async function copy() {
  try {
    await navigator.clipboard.writeText($("curl").textContent);
    show("status", "Copied.");
  } catch {
    show("status", "The browser does not let this page copy; select the text instead.");
  }
}

async function showModel() {
  try {
    const answer = await (await fetch("/v1/models")).json();
    model = answer.data[0].id;
    show("model", model);
  } catch {
    show("model", "not known while the Task is down");
  }
}

$("format").replaceChildren(...formats.map((format, i) => new Option(`${format.name} — POST ${format.path}`, i)));
$("form").addEventListener("submit", rank);
$("copy").addEventListener("click", copy);
showModel();
