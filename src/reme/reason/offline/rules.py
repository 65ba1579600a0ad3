"""The tables of the offline reasoner: what makes a sentence worth keeping, in English and in Chinese.

Owns words and patterns only; how they are weighed is in `sentences`.
"""

import re
from dataclasses import dataclass
from re import Pattern
from typing import Final

__all__ = ["CHINESE", "ENGLISH", "Rules", "has_cjk", "rules_for"]

_CJK = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")


@dataclass(frozen=True, slots=True)
class Rules:
    """One language's patterns.

    Attributes:
        first_person: The speaker talks of themselves, or of what they belong to.
        oneself: The speaker alone.
        memorable: Verbs and nouns that carry facts.
        time: Mentions of time.
        number: Quantities.
        entity: Names, quotations, titles.
        chatter: Openings of greetings, thanks and praise.
        courtesy: Whole sentences of small talk, wherever they stand.
        question: Endings of questions.
        decision, preference, state: What sort of statement it is.
        instruction: Openings of a step to carry out.
        sequence: Words that order steps.
        recipe: Announcements of a way to do something.
        shift: Openings with which a speaker changes the subject.
        change: A thing is not as it was.
        negation: Says that something is not.
        machine: An assistant speaking of itself.
        stop: Words without content.
        weak: Words with content that name nothing: never a title.
    """

    first_person: Pattern[str]
    oneself: Pattern[str]
    memorable: Pattern[str]
    time: Pattern[str]
    number: Pattern[str]
    entity: Pattern[str]
    chatter: Pattern[str]
    courtesy: Pattern[str]
    question: Pattern[str]
    decision: Pattern[str]
    preference: Pattern[str]
    state: Pattern[str]
    instruction: Pattern[str]
    sequence: Pattern[str]
    recipe: Pattern[str]
    shift: Pattern[str]
    change: Pattern[str]
    negation: Pattern[str]
    machine: Pattern[str]
    stop: frozenset[str]
    weak: frozenset[str]


def has_cjk(text: str) -> bool:
    """Whether a text has Chinese characters."""
    return _CJK.search(text) is not None


def rules_for(text: str) -> Rules:
    """The rules for the language of a sentence."""
    return CHINESE if has_cjk(text) else ENGLISH


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _any(alternatives: str) -> Pattern[str]:
    return re.compile(rf"\b(?:{alternatives})\b", re.IGNORECASE)


_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_DAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"

ENGLISH: Final = Rules(
    first_person=_any("I|I'm|I've|I'd|I'll|my|mine|we|we're|we've|we'll|our|ours|me|us"),
    oneself=_any("I|I'm|I've|I'd|I'll|my|mine|me"),
    memorable=_any(
        r"loved?|likes?|enjoy\w*|hates?|prefer\w*|favou?rites?|allergic|afraid|lives?|lived|mov(?:ed|ing)|born|works?|"
        r"worked|working|jobs?|started|starting|quit|joined|joining|went|visit\w*|going to|gonna|plan\w*|want to|"
        r"wants? to|"
        r"hop(?:e|ing) to|bought|got|gave|adopt\w*|married|engaged|wife|husband|partner|son|daughter|kids?|mom|dad|"
        r"mother|"
        r"father|brother|sister|grand\w+|dogs?|cats?|pets?|named|called|birthday|anniversary|trips?|studied|studying|"
        r"graduat\w+|degree|won|lost|passed away|signed up|volunteer\w*|learn(?:ed|ing|t)|decided|promised|used to|met|"
        r"since|years? old|made|painted|wrote|read|finished|tried|took|taking|found|built|created|bec(?:ame|ome)|"
        r"agreed|"
        r"chose|deploy\w*|releas\w+|fix\w*|bugs?|caus\w+|because|deadline|due|must|requires?|needs?|breaks?|broke|"
        r"fail\w*|"
        r"uses?|using|switch\w*|migrat\w+|costs?|budget|appointment|diagnos\w+|doctor|interview|exam|hired|promoted"
    ),
    time=_any(
        rf"yesterday|today|tomorrow|tonight|last (?:week|month|year|night|weekend|summer|winter|spring|fall|{_DAYS})|"
        rf"next (?:week|month|year|weekend|summer|winter|{_DAYS})|this (?:week|month|year|weekend|summer|morning|"
        rf"afternoon)|"
        rf"\d+ (?:minutes?|hours?|days?|weeks?|months?|years?)(?: ago)?|(?:two|three|four|five|six|few|several|many) "
        rf"(?:days|weeks|months|years)(?: ago)?|(?:in|on|since|until|by|every) (?:{_MONTHS}|{_DAYS})|recently|lately|"
        rf"(?:19|20)\d\d|\d{{1,2}}(?::\d\d)? ?[ap]\.?m"
    ),
    number=_any(r"\d[\d.,:]*%?|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|hundred|thousand"),
    entity=re.compile(
        r"(?<![.!?…]\s)(?<!^)\b[A-Z][A-Za-z]*[a-z][A-Za-z]*(?:\s[A-Z][A-Za-z]+)*\b|\b[A-Z]{2,}[a-z]?\b|\b\w+\d\w*\b|"
        r"`[^`]{2,60}`|[\"“][^\"”]{3,60}[\"”]|\b\w+[._/-]\w+\b"
    ),
    chatter=re.compile(
        r"^\W*(?:hey|hi|hiya|hello|wow|woah|whoa|thanks|thank you|thx|bye|goodbye|see you|see ya|take care|talk to you|"
        r"that's (?:great|awesome|so|really|amazing|cool|wonderful|fantastic|a great)|that sounds|sounds|congrats|"
        r"congratulations|cool|absolutely|definitely|exactly|totally|yeah|yep|yup|yes|no worries|sure|no problem|"
        r"you're welcome|you're (?:so|doing|amazing|right)|good (?:to|for|luck|morning|evening|on)|glad|great|"
        r"awesome|amazing|"
        r"nice|lovely|ok|okay|haha|lol|oh|aw+|keep (?:it )?up|have (?:a|fun)|enjoy|same here|agreed|of course|"
        r"certainly|"
        r"happy to|let me know|looks (?:great|good|amazing)|love (?:that|the|it)|it's (?:great|awesome|so|amazing|"
        r"good|always))\b",
        re.IGNORECASE,
    ),
    courtesy=_any(
        r"long time no (?:see|talk)|how (?:are|have) you|what's up|talk (?:to you )?(?:soon|later)|your support means|"
        r"take a look|check (?:it|this) out|means a lot|thanks for (?:asking|the|your|sharing)|can't wait to (?:hear|"
        r"see)|"
        r"keep me (?:posted|updated)|hope this helps|feel free|let me know if"
    ),
    question=re.compile(r"\?[\"”')\]]*$"),
    decision=_any(
        r"decided|decision|we'll go with|let's (?:go with|use)|going with|chose|chosen|settled on|agreed (?:to|on|"
        r"that)|"
        r"we will use|instead of|ruled out|rejected"
    ),
    preference=_any(
        r"prefer\w*|favou?rites?|I (?:really )?(?:love|like|enjoy|hate|dislike)|I (?:don't|do not|can't) (?:like|"
        r"stand|eat|drink)|"
        r"allergic|fan of|keen on|always use|never use|I'm into|passionate about|can't stand"
    ),
    state=_any(
        r"currently|right now|in progress|still (?:need|have|waiting|working)|next steps?|to-?do|blocked|"
        r"waiting (?:for|on)|"
        r"working on|plan(?:ning)? to|going to|gonna|will \w+ (?:tomorrow|next)|remaining|not yet|haven't"
    ),
    instruction=re.compile(
        r"^\W*(?:run|open|install|check|make sure|set|add|remove|create|delete|restart|stop|start|click|select|copy|"
        r"paste|"
        r"commit|push|pull|build|test|deploy|merge|tag|update|edit|write|send|call|wait|verify|rotate|export|import|"
        r"mix|"
        r"stir|bake|boil|preheat|pour|rinse|grind|heat|cook|drain|take|put|use|ask|download|upload|save|back up)\b",
        re.IGNORECASE,
    ),
    sequence=re.compile(
        r"^\W*(?:first(?:ly)?|second(?:ly)?|third(?:ly)?|then|next|after that|afterwards|finally|lastly|"
        r"step \d+)\b[,:]?\s|"
        r"\bfirst\b.+\b(?:then|after that|and finally)\b",
        re.IGNORECASE,
    ),
    recipe=_any(
        r"how (?:to|we|I) \w+|steps? (?:to|for|are)|the (?:procedure|process|recipe|checklist|routine|runbook) (?:is|"
        r"for|to)|"
        r"here's how|the way (?:to|we) \w+|every time (?:we|I|you)|whenever (?:we|I|you)"
    ),
    shift=re.compile(
        r"^\W*(?:by the way|btw|anyway|anyways|another thing|on another note|one more thing|changing the subject|"
        r"speaking of|oh,? and|also,|separately|different (?:topic|question)|new topic|switching)\b",
        re.IGNORECASE,
    ),
    change=_any(
        r"no longer|not any ?more|any ?more|instead|actually|now|changed|moved to|switched (?:to|from)|replaced|"
        r"used to|correction|turns out|rather than|rescheduled|postponed|stopped|quit"
    ),
    negation=_any(
        r"not|no|never|none|n't|cannot|without|(?:is|are|was|were|do|does|did|has|have|had|wo|ca|could|would|should)n't"
    ),
    machine=_any(
        r"as an ai|i'm an ai|language model|i (?:can|will) help you|as your assistant|"
        r"I don't have (?:a )?(?:personal|physical)"
    ),
    stop=_words(
        """
        a an the and or but if then else of at by for with about against between into through during before
        after above below to from up down in out on off over under again further once here there when where why
        how all any both each few more most other some such no nor not only own same so than too very s t can
        will just don should now i me my myself we our ours ourselves you your yours yourself he him his himself
        she her hers herself it its itself they them their theirs themselves what which who whom this that these
        those am is are was were be been being have has had having do does did doing would could ought as
        because until while also yet since it's i'm you're he's she's we're they're i've you've we've they've
        i'd you'd he'd she'd we'd they'd i'll you'll he'll she'll we'll they'll isn't aren't wasn't weren't
        hasn't haven't hadn't doesn't don't didn't won't wouldn't shouldn't can't cannot couldn't mustn't let's
        that's who's what's here's there's let us ve re ll d m
        """
    ),
    weak=_words(
        """
        able absolutely actually ago always amazing another anyone anything around ask asked asking awesome away
        back bad beautiful best better big bit bring brings call came care chance change changed check come
        comes coming completely cool couldn could couple crazy day days deal definitely different doing done end
        enjoy enjoyed enjoying especially even ever every everyone everything exactly excited exciting
        experience fam fantastic far feel feeling feelings feels felt find finally first fine found friend
        friends full fun gave get gets getting give given gives giving glad go goes going gonna gone good
        gorgeous got gotta great guess guys guy had happen happened happening happy hard haven hear heard help
        helped helpful helping helps hey hi hope hoping idea important impressive incredible inspiring inspired
        interested interesting isn job just keep keeps kept kind kinda kinds knew know knows last lately later
        learn learned learning least leave left let life like liked likes little live lived long look looked
        looking looks lot lots love loved lovely loves made make makes making man many matter matters maybe mean
        meaning means mention mentioned met might mind miss moment moments month months morning much must need
        needed needs never new next nice night nothing oh ok okay old one ones own part past people perfect
        person photo pic picture piece place places plan planning plans play played please plus possible
        powerful pretty probably proud put quite ready real really reason recently reminder reminds right said
        saw say saying says second see seeing seem seems seen sense sent set share shared sharing show showed
        shows simple small something sometimes somewhere soon sorry sort sound sounds special spend spent start
        started starting stay stayed step still stop stuff steps follow following such super
        supportive sure take taken takes taking
        talk talked talking tell telling tend thank thankful thanks thing things think thinking third though
        thought three tips today together told tomorrow tonight took totally tough tried true truly try trying
        turn turned two understand understanding use used using usually via wait walk want wanted wanting wants
        wasn watch way ways week weekend weekends weeks well went whole wish wonderful won word words work
        worked working works world worth wow wrong yeah year years yep yes yesterday yet young vs etc eg ie per
        four five six seven eight nine ten hour hours minute minutes monday tuesday wednesday thursday friday
        saturday sunday january february march april may june july august september october november december
        summer winter spring autumn afternoon evening currently decided prefer preferred allergic named called
        instead whatever whenever became become becoming believe bought buy continue create created creating
        favorite favourite front half high imagine kids lead list main mainly move moved moving note number open
        order point prepare problem question rather remember run running send several side single sweet touch
        wanna without wonder appreciate blast cause certain checking daily dream easy enough finish finished
        focus grateful grow heart hit huge join joined journey keeping key large late level low meet meeting
        memories middle passion passionate peace positive progress pursue push quick relax relaxing safe self
        short stand story stories strong struggles stress sun surprise teach team time times top tv visit
        visited warm write wrote agree agreed add added similar visiting gotten stick reach reached goal goals
        success successful achieve focused dedicate dedication motivate motivated hanging hang chill chilling
        catch caught break broke deep choose chose extra early
        """
    ),
)

CHINESE: Final = Rules(
    first_person=re.compile(r"我|咱|俺"),
    oneself=re.compile(r"我(?!们)|俺"),
    memorable=re.compile(
        r"喜欢|爱好|最爱|讨厌|过敏|害怕|住在|住|搬|工作|公司|老板|同事|考试|学习|学了|学会|在学|参加|去了|去过|计划|"
        r"打算|准备|"
        r"想去|想要|买了|看了|读了|做了|生日|毕业|结婚|女儿|儿子|老婆|老公|妻子|丈夫|父母|妈妈|爸爸|养了|养|叫做|"
        r"名字|我叫|"
        r"决定|希望|一直|经常|习惯|遇到|发现|推荐|部署|上线|发布|修复|故障|原因|因为|导致|必须|需要|截止|使用|改成|"
        r"换成|迁移|"
        r"预算|预约|医生|面试|开会|会议|约定|约好|负责|认识|去年|每周|每天"
    ),
    time=re.compile(
        r"今天|昨天|昨晚|今晚|明天|前天|后天|[上下这本]个?(?:周|星期|礼拜|月)|去年|今年|明年|前年|最近|周末|"
        r"[周星期礼拜]+[一二三四五六日天]|"
        r"\d+月|\d+[日号]|\d{4}年|\d+点|[一二三四五六七八九十两几\d]+(?:天|周|个月|年|小时|分钟)(?:前|后)?|早上|晚上|"
        r"下午|上午"
    ),
    number=re.compile(r"\d|[一二三四五六七八九十百千万两]+(?:个|次|年|天|岁|公里|块|元|本|部|只|条|人|遍|杯|克|斤|步)"),
    entity=re.compile(r"《[^》]{1,40}》|“[^”]{2,40}”|「[^」]{2,40}」|`[^`]{2,60}`|[A-Za-z][A-Za-z0-9._/+-]+"),
    chatter=re.compile(
        r"^\W*(?:你好|您好|嗨|哈喽|谢谢|感谢|多谢|好的|好啊|好吧|好呀|再见|拜拜|不客气|不用谢|没问题|没关系|哈哈|嗯|"
        r"哇|恩|是的|是啊|"
        r"对啊|对的|当然|真棒|太好了|太棒了|很棒|很高兴|不错|确实|听起来|看来|没错|原来如此|明白|了解|晚安|早安|加油|"
        r"祝)"
    ),
    courtesy=re.compile(
        r"很高兴认识你|明天再聊|下次再聊|我们(?:明天)?再聊|和你聊天|找你聊|想聊(?:聊)?(?:些|点)?什么|希望(?:这些|"
        r"我的)建议|随时(?:告诉|联系|找)我|"
        r"谢谢你的|感谢你的|祝你|期待(?:我们|你的)|保持联系|有什么(?:能|可以)帮|我会(?:去)?试试|陪伴你"
    ),
    question=re.compile(r"[？?]|[吗呢吧么][”』」]?[。！!]?$"),
    decision=re.compile(r"决定|定了|敲定|选择了|选了|就用|改用|采用|达成一致|商定|不再考虑|放弃了"),
    preference=re.compile(
        r"喜欢|喜爱|偏好|最爱|讨厌|不喜欢|爱吃|爱喝|爱看|爱听|不吃|不喝|过敏|习惯|宁愿|更愿意|感兴趣|爱好"
    ),
    state=re.compile(r"正在|目前|下一步|待办|还没|尚未|进行中|卡在|等待|计划|打算|准备"),
    instruction=re.compile(
        r"^\W*(?:运行|执行|打开|安装|检查|确认|设置|添加|删除|新建|创建|重启|停止|启动|点击|选择|复制|提交|推送|构建|"
        r"测试|部署|合并|"
        r"打标签|更新|修改|发送|等待|导出|导入|加入|倒入|煮|蒸|炒|烤|焯|腌|切|放入|备份|通知|回滚|验证)"
    ),
    sequence=re.compile(
        r"^\W*(?:首先|第[一二三四五六七八九十\d]+步|其次|然后|接着|接下来|之后|最后|再)|先.+(?:再|然后|接着|最后)"
    ),
    recipe=re.compile(r"步骤|流程|做法|方法是|怎么做|如何|操作指南|检查清单|每次.+(?:都|先|要)"),
    shift=re.compile(r"^\W*(?:对了|另外|还有一件事|顺便|话说|换个话题|说起来|其实|除此之外|另一件事|再说一件)"),
    change=re.compile(
        r"不再|改成|改为|改到|改用|换成|换到|搬到|而不是|现在|其实|不是.+而是|取消|推迟|提前到|调整为|已经不"
    ),
    negation=re.compile(r"不|没|无|别|未|勿|非"),
    machine=re.compile(r"作为(?:一个|你的)?(?:AI|人工智能|语言模型)|我是(?:一个|你的)?(?:AI|人工智能)|AI(?:伴侣|助手)"),
    stop=_words(
        """
        的 了 是 在 我 你 他 她 它 们 我们 你们 他们 这 那 这个 那个 这些 那些 有 和 与 或 也 就 都 而 及 着 过
        把 被 让 给 对 从 到 向 为 以 于 之 其 所 等 很 太 更 最 还 又 再 只 才 已 已经 会 能 可以 可能 要 想 说
        去 来 做 用 吧 吗 呢 啊 呀 哦 嗯 一个 一些 一下 一直 什么 怎么 为什么 哪里 如何 因为 所以 但是 但 如果
        虽然 而且 然后 并 或者 不 没 没有 自己 大家 时候 时
        """
    ),
    weak=_words(
        """
        今天 昨天 明天 最近 现在 以前 以后 时间 时候 事情 东西 问题 建议 感觉 心情 方法 方式 办法 地方 朋友 人
        事 话题 方面 情况 机会 生活 喜欢 觉得 知道 希望 需要 推荐 帮助 分享 聊天 聊 谢谢 感谢 开心 高兴 快乐
        愉快 好 不错 很多 有趣 有用 重要 非常 特别 真的 一点 有点 一样 看看 试试 尝试 选择 决定 准备 打算 计划
        开始 继续 完成 进行 提高 了解 认识 相信 享受 感受 体验 经历 意思 结果 原因 部分 内容 名字 兴趣 爱好 伴侣
        AI 助手 晚上 早上 下午 上午 周末 今晚 昨晚 昨天晚上 我会 一会 一起 全部 好像 可能 应该 用户 年 月 日 天
        个 次 点 小时 分钟 目标 能力 状态 压力 效果 水平 同学 家人 身边 日常 老师 步骤 流程 以下 如下 首先
        最后 每天 每周 每次
        过程 角度 世界 消息 同事 大家 别人 身体 想法 作为 需求 意见 故事 特点 主题 影响 作用 人们 问 说 看 听 吃
        想 买 去 来 好主意 好友 客气 关系 主意 机构 时段 天气 收获 话 事儿 样子 心里 交流 陪伴 支持 鼓励 优点
        好处 道理 下次 明年 去年 改成 周一 周二 周三 周四 周五 周六 周日 星期一 星期二 星期三 星期四 星期五
        星期六 星期天
        """
    ),
)
