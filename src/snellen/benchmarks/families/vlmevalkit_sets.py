"""Lists VLMEvalKit's data sets: the supported sets, and the reasons why the other sets are not
supported.

The sets come from open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/dataset.
The file `vlmevalkit_sets.tsv` lists the supported sets, with the kind, MD5, and URL from
image_mcq.py, image_yorn.py, and image_vqa.py. When a set gets its own benchmark in Snellen, its
name moves from the aliases of the benchmark `vlmevalkit` to those of its own; the option `name`
still selects the set. A set that is not in the file is added to OWN.
"""

from collections.abc import Mapping
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple, cast

from snellen.data.published import File
from snellen.errors import CatalogError

Kind = Literal["MCQ", "Y/N", "VQA"]
HOST = "https://opencompass.openxlab.space/utils/VLMEval"


class PublishedSheet(NamedTuple):
    """A data set that VLMEvalKit publishes as a TSV file, called a sheet here."""

    name: str
    """The name of the file, without the suffix."""
    kind: Kind
    """The kind of the data set's questions."""
    md5: str | None
    """The published MD5 digest; None if none is published."""
    url: str
    """The URL of the file."""


@cache
def sets() -> Mapping[str, PublishedSheet]:
    """The supported sets, keyed by name."""
    text = Path(__file__).with_suffix(".tsv").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in text.splitlines()[1:])
    return {
        name: PublishedSheet(name, cast(Kind, kind), md5 or None, url)
        for name, kind, md5, url in rows
    }


def own_sheet(name: str, md5: str) -> File:
    """VLMEvalKit's TSV file of a data set that has a benchmark of its own here."""
    return File(name=f"{name}.tsv", url=f"{HOST}/{name}.tsv", md5=md5)


def published_set(name: str) -> PublishedSheet:
    """Return the supported set with this name.

    Raises:
        CatalogError: no set has this name, or the benchmark `vlmevalkit` does not support the set.
            The message gives the reason, or lists similar names.
    """
    if sheet := sets().get(name):
        return sheet
    if reason := elsewhere(name):
        raise CatalogError(f"vlmevalkit does not support VLMEvalKit's set {name}: {reason}")
    by_lower = {known.lower(): known for known in sets()}
    close = [by_lower[key] for key in get_close_matches(name.lower(), by_lower, n=3, cutoff=0.5)]
    hint = f"Did you mean {' or '.join(close)}? " if close else ""
    raise CatalogError(
        f"vlmevalkit has no set {name!r}. {hint}`snellen show vlmevalkit` lists all sets. To use a "
        "TSV of your own, pass its path: `-b mine.tsv`."
    )


def missing_rule(name: str) -> str:
    """Return the part of VLMEvalKit's rule for a set that the benchmark `vlmevalkit` lacks, with
    its lines in VLMEvalKit's folder vlmeval/dataset. The file `vlmevalkit_rules.tsv` lists these
    rules; its first matching line counts."""
    text = Path(__file__).with_name("vlmevalkit_rules.tsv").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in text.splitlines()[1:])
    return next(f"{rule} ({lines})" for known, rule, lines in rows if fnmatchcase(name, known))


def elsewhere(name: str) -> str | None:
    """Return the reason why the benchmark `vlmevalkit` does not support a set. Return None if the
    set is supported or unknown."""
    reasons = [
        (len(known), reason)
        for reason, names in ELSEWHERE.items()
        for known in names.split()
        if name == known or (known.endswith("*") and name.startswith(known[:-1]))
    ]
    # The longest match is the most specific: `MMBench_*` does not mean `MMBench_V11`.
    return max(reasons)[1].format(name=name) if reasons else None


OWN = """
A-OKVQA CCBench COCO_VAL ChartQA_TEST DocVQA_* DynaMath* ERQA EmbSpatialBench GQA_TestDev_Balanced
HallusionBench InfoVQA_* LogicVista MMBench_* MME MME-RealWorld* MMMU_* MMSIBench_wo_circular
MMVet MTVQA_TEST MathVision* MathVista_* OCRBench OCRBench_v2 OCRVQA_* POPE SEEDBench_IMG
ScienceQA_* TableVQABench TextVQA_VAL VCR_* VLMBlind VisuLogic VisualPuzzles ZEROBench*
"""
CIRCULAR = """
BLINK_circular LEGO_circular LiveMMBench_Reasoning_circular MMBench_DEV_KO MMBench_dev_* MMCR
MMSIBench_circular MTL_MMBench_DEV StaticEmbodiedBench_circular
"""
JUDGE = """
Asclepius AyaVisionBench BabyVision CharXiv_* ChartBench ChartMimic_* ChartMuseum_* ChartX
CoreCognition Creation_MMBench DUDE* Detailed_Difference GOBench Instance_Comparison LENS-CN-QA*
LLaVABench* LiveMMBench_Creation M4Bench MIA-Bench MM-IFEval MMAlignBench MME-Reasoning
MME_CoT_TEST MMLongBench_* MMOral_OPG_OPEN MMReason_testmini MMVMBench MMVet_Hard MOAT MaCBench
MathCanvas-Bench MathVerse_* MemLens_* OCR_Reasoning PerceptionBench Physics*
SGI-Experimental-Reasoning SLIDEVQA* SUPERChem* SciDocBench SeePhys* Spatial_Perception
State_Comparison State_Invariance VL-RewardBench WildVision WorldVQA atomic_dataset
electro_dataset mechanics_dataset optics_dataset quantum_dataset statistics_dataset
wildprobe_multiimg_reasoning
"""
VIDEO = """
AV-SpeakerBench* CG-AV-Counting* CG-Bench_* CGAVCounting* CGBench_* DREAM-1K* DSRBench*
EgoExoBench* LongVideoBench* MEGABench* MLVU* MMBench-Video* MMBench_Video* MMSIVideoBench*
MVBench* MVTamperBench* MVU-Eval* MovieChat1k* OMTGBench* QBench_* ReVSI* STI-Bench*
SiteBenchVideo* TempCompass* V2P-Bench* V2PBench* VCR-Bench* VCRBench* VDC* VSI-Bench* Video-*
VideoMMMU* Video_* VsiSuper* WorldSense* moviechat1k_* revsi*
"""
TURNS = "OST"
# open-compass/VLMEvalKit@e8e78f05:vlmeval/dataset/image_mt.py#L60-L110
GRADED_TURNS = "MMDU"
TEXT = "Flames SGI-DeepResearch SGI-DryExperiment SGI-IdeaGeneration SGI-WetExperiment XSTest"
CAPTIONS = "ChartCap MMSci_DEV_Captioning_* MedqbenchCaption* MedqbenchPairedDescription*"
PARTS = """
GMAI-MMBench_TEST MMMB MicroBench OmniEarth-Bench OmniMedVQA QSpatial_* SCAM VTCBench
XLRS-Bench-lite
"""
INTERNAL = "AI2D_MINI MMBench MMBench_CN MMBench_CN_V11 MMBench_V11 MMBench_V11_MINI MMStar_MINI"
# The answers are boxes, orders, several letters, or texts in braces, or the prompts have more parts
# than a template.
FORM = """
A4Bench APhO_2025 BMMR* CCOCR* CMMMU_VAL CRPE_* ChartQAPro* DA-2K Design2Code EMMA* ERIQ EuPhO_*
F_MA_* FoxBench GSM8K-V GroundingME HiPhO_ALL IPhO_* LEGO LiveMMBench_* LongDocURL M3oralBench
MATBench MM-HELIX* MM-Math MMESCI_* MMGenBench-* MMOral_OPG_CLOSED MMRarebench_* MMSafetyBench
MM_NIAH_* MSSBench MedQDEGBench_* MedqbenchMCQ* MindCubeBench_* NBPhO_* NaturalBenchDataset
OCRBench_* OSWorld_G OceanOCRBench OlympiadBench* Omni3DBench OmniDocBench OmniMat_*
PanMechanics_* PanPhO_* PathVQA_* PhyX_* PlotQA PuzzleVQA ReasonMap-Plus RefCOCO RefSpatial*
RoboSpatialHome SArena* SFE SFE-zh SIUO* SPBench-* SSI_Bench ScreenSpot* SimpleVQA SiteBenchImage
SparBench* Spatial457 UniSVG VBGD VGRPBench VLADBench VLM2Bench VLMBias VLRMBench* VenusBench-GD
ViewSpatialBench VisFactor* WikiVQABench WildDoc hle* npmm olmOCRBench tdbench_grounding_*
vlms_are_biased_main
"""
ELSEWHERE: Mapping[str, str] = {
    "the set has a benchmark of its own: `-b {name}`.": OWN,
    "the set's questions are asked in several rotations, which are scored together.": CIRCULAR,
    "the set's replies are parsed or scored by a judge.": JUDGE,
    "the set is about videos.": VIDEO,
    "the set's samples are conversations of several turns.": TURNS,
    "the set's samples are conversations of several turns, which a judge grades by six criteria "
    "and overall. You can ask these conversations as rows of your own, but without grades.": (
        GRADED_TURNS
    ),
    "the set has no pictures.": TEXT,
    "the set asks for descriptions.": CAPTIONS,
    "the set is not published as one TSV.": PARTS,
    "the set is for its authors' own use.": INTERNAL,
    "the set's prompts or answers have a special format.": FORM,
}
"""Maps each reason to the names of the sets that are not supported for that reason. `X*` matches
every name that begins with X."""
