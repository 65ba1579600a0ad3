// What remark makes of Markdown files: for each line of the input, a path, one line of JSON with its links and tags.
// Needs, in a folder of its own: mdast-util-from-markdown, micromark-extension-gfm, mdast-util-gfm,
// micromark-extension-frontmatter, mdast-util-frontmatter, micromark-extension-math, mdast-util-math, yaml and the
// four packages @moritzrs/{micromark-extension,mdast-util}-ofm-{wikilink,tag}; NODE_MODULES names that folder.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const from = createRequire(process.env.NODE_MODULES + "/");
const load = (name) => import(pathToFileURL(resolve(name)));
const resolve = (name) => {
  const folder = `${process.env.NODE_MODULES}/${name}`;
  const described = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
  const entry = described.exports?.["."] ?? described.exports ?? described.main ?? "index.js";
  return `${folder}/${typeof entry === "string" ? entry : (entry.import?.default ?? entry.import ?? entry.default)}`;
};
const { fromMarkdown } = await load("mdast-util-from-markdown");
const { gfm } = await load("micromark-extension-gfm");
const { gfmFromMarkdown } = await load("mdast-util-gfm");
const { frontmatter } = await load("micromark-extension-frontmatter");
const { frontmatterFromMarkdown } = await load("mdast-util-frontmatter");
const { math } = await load("micromark-extension-math");
const { mathFromMarkdown } = await load("mdast-util-math");
const { ofmWikilink } = await load("@moritzrs/micromark-extension-ofm-wikilink");
const { ofmWikilinkFromMarkdown } = await load("@moritzrs/mdast-util-ofm-wikilink");
const { ofmTag } = await load("@moritzrs/micromark-extension-ofm-tag");
const { ofmTagFromMarkdown } = await load("@moritzrs/mdast-util-ofm-tag");
const { parse } = from("yaml");

const options = {
  extensions: [gfm(), frontmatter(["yaml"]), math(), ofmWikilink(), ofmTag()],
  mdastExtensions: [
    gfmFromMarkdown(), frontmatterFromMarkdown(["yaml"]), mathFromMarkdown(), ofmWikilinkFromMarkdown(), ofmTagFromMarkdown(),
  ],
};

function read(path) {
  const found = [];
  const add = (kind, target, anchor, node) => found.push([kind, target, anchor, node.position?.start.line ?? 0]);
  const walk = (node) => {
    if (node.type === "ofmWikilink") add("wiki", node.url, node.hash, node);
    else if (node.type === "ofmWikiembedding") add("embed", node.url, node.hash, node);
    else if (node.type === "ofmTag") add("tag", node.value, "", node);
    else if (node.type === "link" || node.type === "definition" || node.type === "image") add("markdown", node.url, "", node);
    else if (node.type === "yaml") properties(node);
    for (const child of node.children ?? []) walk(child);
  };
  const properties = (node) => {
    let data;
    try { data = parse(node.value, { logLevel: "silent" }); } catch { return; }
    strings(data, node);
    const tags = typeof data?.tags === "string" ? data.tags.split(/[,\s]+/) : (data?.tags ?? []);
    if (Array.isArray(tags)) for (const tag of tags) if (tag) add("tag property", String(tag), "", node);
  };
  const strings = (value, node) => {
    if (typeof value === "string") {
      for (const [, inner] of value.matchAll(/\[\[([^[\]]+)\]\]/g)) {
        const [target, ...anchor] = inner.split("|")[0].split("#");
        add("property", target.trim(), anchor.join("#").trim(), node);
      }
    } else if (value && typeof value === "object") for (const item of Object.values(value)) strings(item, node);
  };
  walk(fromMarkdown(readFileSync(path, "utf8"), options));
  return found;
}

for await (const path of createInterface({ input: process.stdin })) {
  let line;
  try { line = JSON.stringify(read(path)); } catch (error) { line = JSON.stringify(String(error)); }
  console.log(line);
}
