// Sends requests that are refused, with fetch or over HTTP/2. Prints `ok` for each that got its Status, or what it got.
import http2 from "node:http2";
import fs from "node:fs";

const [client, , url, authority, size, rounds] = process.argv.slice(2);
const cases = JSON.parse(process.env.CASES);
const body = "x".repeat(Number(size));
const atOnce = 10;

const headers = (of) => ({
  authorization: `Bearer ${of.token ?? "admintoken"}`,
  "content-type": of.type ?? "application/json",
  ...(of.accept ? { accept: of.accept } : {}),
});

function judge(of, status, text) {
  let reason = text.slice(0, 100);
  try {
    reason = JSON.parse(text).reason;
  } catch {}
  const well = status === of.status && reason === of.reason;
  console.log(well ? "ok" : `${of.method} ${of.path}: ${of.status} ${of.reason} wanted, ${status} ${reason} got`);
}

async function byFetch(of) {
  const answer = await fetch(url + of.path, { method: of.method, headers: headers(of), body: body || undefined });
  judge(of, answer.status, await answer.text());
}

const overHttp2 = (session) => (of) =>
  new Promise((resolve, reject) => {
    const stream = session.request({ ":method": of.method, ":path": of.path, ...headers(of) });
    let status, text = "";
    stream.setEncoding("utf8");
    stream.on("response", (head) => (status = head[":status"]));
    stream.on("data", (piece) => (text += piece));
    stream.on("error", reject);
    stream.on("close", () => resolve(judge(of, status, text)));
    stream.end(body);
  });

const all = Array.from({ length: Number(rounds) }, (_, at) => cases[at % cases.length]);
while (all.length > 0) {
  const group = all.splice(0, 5 * atOnce);
  const session = client === "http2" && http2.connect(url, authority === "-" ? {} : { ca: fs.readFileSync(authority) });
  const ask = session ? overHttp2(session) : byFetch;
  if (session) session.on("error", (error) => console.log(`the session: ${error}`));
  while (group.length > 0) {
    const tell = (of) => (error) => console.log(`${of.method} ${of.path}: ${error} ${error.cause ?? ""}`);
    await Promise.all(group.splice(0, atOnce).map((of) => ask(of).catch(tell(of))));
  }
  if (session) session.close();
}
