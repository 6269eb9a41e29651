"""One lane: a FastAPI server that scores one request at a time, as most self-written rerankers do.

POST /v1/ranking in NIM's format, GET /health. Engines: torch (sentence-transformers CrossEncoder, f32) and onnx (onnxruntime,
f32 or dynamically quantized int8, passages sorted by length, batches of 32).
"""

import argparse
import asyncio
import os
from concurrent.futures import ThreadPoolExecutor

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

BATCH = 32


class TorchEngine:
    def __init__(self, model, threads):
        import torch
        from sentence_transformers import CrossEncoder

        torch.set_num_threads(threads)
        self.model = CrossEncoder(
            model, device="cpu", model_kwargs={"dtype": torch.float32}, activation_fn=torch.nn.Identity()
        )

    def score(self, query, passages):
        pairs = [(query, p) for p in passages]
        return self.model.predict(pairs, batch_size=BATCH, show_progress_bar=False).tolist(), 0


class OnnxEngine:
    def __init__(self, model, threads):
        import numpy
        import onnxruntime
        from tokenizers import Tokenizer

        self.numpy = numpy
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        self.session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self.tokenizer = Tokenizer.from_file(os.path.join(os.path.dirname(model), "tokenizer.json"))
        self.tokenizer.enable_truncation(512)
        self.tokenizer.no_padding()

    def score(self, query, passages):
        encoded = self.tokenizer.encode_batch([(query, p) for p in passages])
        order = sorted(range(len(encoded)), key=lambda i: len(encoded[i].ids))
        scores = [0.0] * len(encoded)
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            logits = self.session.run(["logits"], self.inputs([encoded[i] for i in batch]))[0]
            for i, logit in zip(batch, logits[:, 0].tolist()):
                scores[i] = logit
        return scores, sum(len(e.ids) for e in encoded)

    def inputs(self, encoded):
        shape = (len(encoded), max(len(e.ids) for e in encoded))
        arrays = {n: self.numpy.zeros(shape, dtype="int64") for n in ("input_ids", "attention_mask", "token_type_ids")}
        for row, e in enumerate(encoded):
            arrays["input_ids"][row, : len(e.ids)] = e.ids
            arrays["attention_mask"][row, : len(e.ids)] = 1
            arrays["token_type_ids"][row, : len(e.ids)] = e.type_ids
        return arrays


def build(engine):
    app = FastAPI()
    lane = ThreadPoolExecutor(max_workers=1)

    @app.get("/health")
    async def health():
        return {"status": "ready"}

    @app.post("/v1/ranking")
    async def ranking(request: Request):
        body = await request.json()
        texts = [p["text"] for p in body["passages"]]
        loop = asyncio.get_running_loop()
        scores, tokens = await loop.run_in_executor(lane, engine.score, body["query"]["text"], texts)
        order = sorted(range(len(scores)), key=lambda i: -scores[i])
        return JSONResponse(
            {
                "rankings": [{"index": i, "logit": scores[i]} for i in order],
                "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
            }
        )

    return app


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--engine", choices=["torch", "onnx"], required=True)
    parser.add_argument("--model", required=True, help="model directory (torch) or .onnx file beside its tokenizer.json")
    parser.add_argument("--port", type=int, required=True)
    args = parser.parse_args()
    threads = os.cpu_count()
    engine = {"torch": TorchEngine, "onnx": OnnxEngine}[args.engine](args.model, threads)
    engine.score("warm", ["up"])
    uvicorn.run(build(engine), host="127.0.0.1", port=args.port, log_level="warning", access_log=False)


if __name__ == "__main__":
    main()
