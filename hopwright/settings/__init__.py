"""Where Hopwright keeps its things, and the parameters of a run, every one of them explained and bounded."""

from hopwright.settings.base import LATEST_YEAR, Parameters, list_model_fields
from hopwright.settings.corpus import (
    CorpusAddParameters,
    CorpusChainsParameters,
    CorpusIndexParameters,
    CorpusName,
    CorpusServeParameters,
    EnvironmentServeParameters,
    ExportParameters,
)
from hopwright.settings.difficulty import FilterParameters, VllmParameters, VoterName
from hopwright.settings.form import list_form_titles, read_form
from hopwright.settings.models import ModelParameters
from hopwright.settings.naming import call_parameters, name_parameter, spell_options, spell_titles
from hopwright.settings.novels import (
    NovelMode,
    NovelQuestionsParameters,
    NovelsAddParameters,
    NovelsEvaluateParameters,
    NovelsName,
    NovelStarParameters,
)
from hopwright.settings.paths import checkout, home, prompts_folder, sample_folder, storage
from hopwright.settings.pictures import (
    PictureQuestionsParameters,
    PicturesEvaluateParameters,
    PicturesExportParameters,
    PicturesFetchParameters,
    PicturesFilterParameters,
    PicturesName,
    PicturesRewordParameters,
)
from hopwright.settings.presets import PresetName, apply_preset, list_changes, merge_values, read_presets
from hopwright.settings.reading import identify, load_parameters, narrow
from hopwright.settings.release import EvaluateParameters, ReleaseParameters
from hopwright.settings.review import AdjudicateParameters, PullParameters, ReviewParameters
from hopwright.settings.runs import (
    AdjudicateRun,
    BuildParameters,
    EvaluateRun,
    FilterRun,
    ModelRun,
    ReleaseRun,
    RetrieveRun,
    ReviewPullRun,
    ReviewRun,
    RewriteRun,
    RunParameters,
    ShardedRun,
    SynthesizeRun,
)
from hopwright.settings.synthesis import DomainName, Share, SynthesizeParameters, TargetParameters, TopologyName
from hopwright.settings.twins import RewriteParameters

__all__ = [
    "LATEST_YEAR",
    "AdjudicateParameters",
    "AdjudicateRun",
    "BuildParameters",
    "CorpusAddParameters",
    "CorpusChainsParameters",
    "CorpusIndexParameters",
    "CorpusName",
    "CorpusServeParameters",
    "DomainName",
    "EnvironmentServeParameters",
    "EvaluateParameters",
    "EvaluateRun",
    "ExportParameters",
    "FilterParameters",
    "FilterRun",
    "ModelParameters",
    "ModelRun",
    "NovelMode",
    "NovelQuestionsParameters",
    "NovelStarParameters",
    "NovelsAddParameters",
    "NovelsEvaluateParameters",
    "NovelsName",
    "Parameters",
    "PictureQuestionsParameters",
    "PicturesEvaluateParameters",
    "PicturesExportParameters",
    "PicturesFetchParameters",
    "PicturesFilterParameters",
    "PicturesName",
    "PicturesRewordParameters",
    "PresetName",
    "PullParameters",
    "ReleaseParameters",
    "ReleaseRun",
    "RetrieveRun",
    "ReviewParameters",
    "ReviewPullRun",
    "ReviewRun",
    "RewriteParameters",
    "RewriteRun",
    "RunParameters",
    "ShardedRun",
    "Share",
    "SynthesizeParameters",
    "SynthesizeRun",
    "TargetParameters",
    "TopologyName",
    "VllmParameters",
    "VoterName",
    "apply_preset",
    "call_parameters",
    "checkout",
    "home",
    "identify",
    "list_changes",
    "list_form_titles",
    "list_model_fields",
    "load_parameters",
    "merge_values",
    "name_parameter",
    "narrow",
    "prompts_folder",
    "read_form",
    "read_presets",
    "sample_folder",
    "spell_options",
    "spell_titles",
    "storage",
]
