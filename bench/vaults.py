"""Seeded vaults: the same notes for the same seed, on every machine.

About 250 words a note with the frequencies of a natural language, 3 to 6 links (most within a topic, some with a
predicate), a fifth of the notes with a Chinese paragraph, and one hub that up to 500 notes link to.
"""

import gc
import hashlib
import random
import zlib
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

__all__ = ["Made", "Question", "as_the_product", "baseline", "make_vault"]

_TOPICS = 40
_WORDS = 20_000
_HUB_LINKS = 500
_RARE = 200
_ONSETS = "b br c ch d dr f fl g gr h j k l m n p pl pr qu r s sh sl st t th tr v w z".split()  # noqa: SIM905
_NUCLEI = "a e i o u ai ea io ou ee".split()  # noqa: SIM905
_CODAS = ["", "", "n", "r", "l", "s", "t", "m", "ck", "nd", "st", "ng", "x"]
_ENDINGS = ["", "", "", "ing", "ed", "er", "ion", "ity", "al", "ous", "ive", "ness", "ly", "ment"]
_COMMON = """the of and to in a is that for it as was with be by on not this have from or had they which one you all she
there would their we him been has when who will no more if out so what about into them can only other time new
some""".split()  # noqa: SIM905
_CHINESE = """记忆 文件 索引 搜索 链接 笔记 模型 数据 系统 用户 项目 任务 会议 计划 团队 产品 设计 测试 部署 服务 接口
缓存 队列 日志 监控 性能 延迟 内存 网络 安全 权限 备份 恢复 迁移 版本 分支 合并 冲突 评审 文档 配置 参数 环境 容器
集群 节点 调度 故障 重试 事务 一致性 可用性 复制 快照 归档 检索 排序 召回 精度 训练 推理 评估 标注 样本 分词 词典
摘要 对话 知识 经验 学习 习惯 目标 步骤 流程 规则 假设 结论 证据 来源 北京 上海 杭州 深圳 咖啡 绿茶 面条 火锅 天气
旅行 火车 酒店 预算 合同 客户""".split()  # noqa: SIM905
_GLUE = ["的", "和", "在", "了", "对", "把", "是", "需要", "可以", "已经", "因为", "如果"]


@dataclass(frozen=True, slots=True)
class Question:
    """A query; ``expected`` is the note that its words were taken from, or None."""

    text: str
    expected: str | None


@dataclass(frozen=True, slots=True)
class Made:
    """A vault that was made: its notes' paths, its hub, and questions to ask of it; ``rare`` ones have rare words."""

    root: Path
    paths: tuple[str, ...]
    hub: str
    questions: tuple[Question, ...]
    rare: tuple[Question, ...]


def make_vault(root: Path, notes: int, seed: int = 7) -> Made:
    """Write a vault of so many notes into a folder.

    Args:
        root: The folder; made if absent.
        notes: How many notes.
        seed: The same seed makes the same bytes.
    """
    rng = random.Random(seed)
    words = _vocabulary(rng)
    topics = [rng.sample(words[50:], 500) for _ in range(_TOPICS)]
    homes = [rng.randrange(_TOPICS) for _ in range(notes)]
    names = [f"{rng.choice(topics[home][:120])} {rng.choice(words[:4000])} {i}" for i, home in enumerate(homes)]
    slugs = [name.replace(" ", "-") for name in names]
    paths = tuple(f"digest/wiki/t{home:02d}/{slug}.md" for home, slug in zip(homes, slugs, strict=True))
    members: dict[int, list[int]] = {}
    for i, home in enumerate(homes):
        members.setdefault(home, []).append(i)
    fans = set(rng.sample(range(1, notes), min(_HUB_LINKS, notes - 1)))
    general = list(accumulate(1 / (rank + 2.7) ** 1.05 for rank in range(len(_COMMON) + len(words))))
    special = list(accumulate(1 / (rank + 1.5) ** 0.95 for rank in range(500)))
    questions: list[Question] = []
    choosing, ranks, rare = random.Random(seed), {word: rank for rank, word in enumerate(words)}, list[Question]()
    for i, home in enumerate(homes):
        size = min(420, max(120, int(rng.gauss(250, 45))))
        said = rng.choices([*_COMMON, *words], cum_weights=general, k=size)
        themed = rng.choices(topics[home], cum_weights=special, k=size)
        text = [theme if rng.random() < 0.4 else word for word, theme in zip(said, themed, strict=True)]
        paragraphs = _paragraphs(rng, text)
        chinese = _chinese(rng) if rng.random() < 0.2 else ""
        if chinese:
            paragraphs.insert(rng.randint(0, len(paragraphs)), chinese)
        for _ in range(rng.randint(3, 6)):
            target = rng.choice(members[home]) if rng.random() < 0.7 else rng.randrange(notes)
            paragraphs[rng.randrange(len(paragraphs))] += f" See [[{paths[target]}]]."
        if i in fans:
            paragraphs[-1] += f" Hub [[{paths[0]}]]."
        related = [f"relates_to:: [[{paths[rng.choice(members[home])]}]]" for _ in range(rng.choice((0, 1, 1, 2)))]
        _write(root / paths[i], names[i], topics[home], rng, paragraphs, related)
        questions.append(_question(rng, i, paths[i], text, chinese, topics[home]))
        if i % max(1, notes // _RARE) == 0:
            rarest = sorted({word for word in text if word in ranks}, key=ranks.__getitem__)[-12:-2]
            rare.append(Question(" ".join(choosing.sample(rarest, 3)), paths[i]))
    asked = rng.sample(questions, min(200, notes))
    return Made(root, paths, paths[0], tuple(asked), tuple(rare))


def as_the_product() -> None:
    """Have this process look for garbage as seldom as the command line has its own do."""
    gc.set_threshold(50_000)


def baseline(made: Made) -> None:
    """Read, hash and compress every note: what the whole-vault figures of a run are compared with."""
    for path in made.paths:
        data = (made.root / path).read_bytes()
        hashlib.blake2b(data, digest_size=16).digest()
        zlib.compress(data, 6)


def _vocabulary(rng: random.Random) -> list[str]:
    words: dict[str, None] = {}
    while len(words) < _WORDS:
        syllables = rng.choice((1, 2, 2, 2, 3))
        word = "".join(rng.choice(_ONSETS) + rng.choice(_NUCLEI) + rng.choice(_CODAS) for _ in range(syllables))
        if len(word) > 3:
            words[word + rng.choice(_ENDINGS)] = None
    return list(words)


def _paragraphs(rng: random.Random, words: list[str]) -> list[str]:
    sentences: list[str] = []
    at = 0
    while at < len(words):
        size = rng.randint(8, 18)
        sentences.append(" ".join(words[at : at + size]).capitalize() + ".")
        at += size
    return [" ".join(sentences[start : start + 4]) for start in range(0, len(sentences), 4)]


def _chinese(rng: random.Random) -> str:
    sentences: list[str] = []
    for _ in range(rng.randint(3, 6)):
        words = [
            rng.choice(_CHINESE) + (rng.choice(_GLUE) if rng.random() < 0.35 else "") for _ in range(rng.randint(5, 10))
        ]
        sentences.append("".join(words) + "。")
    return "".join(sentences)


def _write(
    file: Path, name: str, topic: list[str], rng: random.Random, paragraphs: list[str], related: list[str]
) -> None:
    half = max(1, len(paragraphs) // 2)
    tags = f"{topic[0]}, {rng.choice(('draft', 'final'))}"
    front = f"---\nname: {name}\ndescription: {' '.join(rng.sample(topic, 6))}\ntags: [{tags}]\n---\n"
    body = [f"# {name.title()}", *paragraphs[:half], f"## {rng.choice(topic).title()}", *paragraphs[half:], *related]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes((front + "\n" + "\n\n".join(body) + "\n").encode())


def _question(rng: random.Random, number: int, path: str, words: list[str], chinese: str, topic: list[str]) -> Question:
    """Three words of a note, eight characters of its Chinese, or two common words of its topic."""
    if chinese:
        start = rng.randrange(len(chinese) - 9)
        return Question(chinese[start : start + 8].replace("。", ""), path)
    if number % 3 == 0:
        return Question(" ".join(rng.sample(topic[:15], 2)), None)
    return Question(" ".join(rng.sample([word for word in words if word not in _COMMON], 3)), path)
