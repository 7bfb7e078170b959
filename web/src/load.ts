// Reads the document from the page: plain JSON, or deflated (zlib's format) in base64, according to data-encoding.

import { PageData } from "./contract";
import { checkDocument } from "./model";

function bytesOf(base64: string): Uint8Array {
    const binary = atob(base64.trim());
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
    return bytes;
}

async function inflate(bytes: Uint8Array): Promise<string> {
    if (typeof DecompressionStream === "undefined") throw new Error("this browser is too old for the page (it has no DecompressionStream)");
    const stream = new Blob([bytes as BlobPart]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).text();
}

export async function loadDocument(): Promise<PageData> {
    const element = document.getElementById("assay-data");
    const text = element?.textContent ?? "";
    if (!element || text.trim() === "") throw new Error("this page contains no profile");
    const plain = element.dataset.encoding === "deflate-base64" ? await inflate(bytesOf(text)) : text;
    element.textContent = ""; // megabytes that are not needed again
    return checkDocument(JSON.parse(plain));
}
