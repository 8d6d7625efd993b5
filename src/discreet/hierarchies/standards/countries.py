"""Countries by their codes in ISO 3166, and the regions of the United Nations (M49).

Taiwan, which M49 does not list, is in Eastern Asia by its place; Antarctica is a region of its own.
"""

from __future__ import annotations

# By region and subregion: the codes of two and of three letters, written together.
REGIONS: dict[str, dict[str, str]] = {
    "Africa": {
        "Northern Africa": "DZDZA EGEGY EHESH LYLBY MAMAR SDSDN TNTUN",
        "Eastern Africa": (
            "BIBDI DJDJI ERERI ETETH IOIOT KEKEN KMCOM MGMDG MUMUS MWMWI MZMOZ REREU RWRWA "
            "SCSYC SOSOM SSSSD TFATF TZTZA UGUGA YTMYT ZMZMB ZWZWE"
        ),
        "Middle Africa": "AOAGO CDCOD CFCAF CGCOG CMCMR GAGAB GQGNQ STSTP TDTCD",
        "Southern Africa": "BWBWA LSLSO NANAM SZSWZ ZAZAF",
        "Western Africa": (
            "BFBFA BJBEN CICIV CVCPV GHGHA GMGMB GNGIN GWGNB LRLBR MLMLI MRMRT NENER NGNGA "
            "SHSHN SLSLE SNSEN TGTGO"
        ),
    },
    "Americas": {
        "Caribbean": (
            "AGATG AIAIA AWABW BBBRB BLBLM BQBES BSBHS CUCUB CWCUW DMDMA DODOM GDGRD GPGLP "
            "HTHTI JMJAM KNKNA KYCYM LCLCA MFMAF MQMTQ MSMSR PRPRI SXSXM TCTCA TTTTO VCVCT "
            "VGVGB VIVIR"
        ),
        "Central America": "BZBLZ CRCRI GTGTM HNHND MXMEX NINIC PAPAN SVSLV",
        "South America": (
            "ARARG BOBOL BRBRA BVBVT CLCHL COCOL ECECU FKFLK GFGUF GSSGS GYGUY PEPER PYPRY "
            "SRSUR UYURY VEVEN"
        ),
        "Northern America": "BMBMU CACAN GLGRL PMSPM USUSA",
    },
    "Asia": {
        "Central Asia": "KGKGZ KZKAZ TJTJK TMTKM UZUZB",
        "Eastern Asia": "CNCHN HKHKG JPJPN KPPRK KRKOR MNMNG MOMAC TWTWN",
        "South-eastern Asia": ("BNBRN IDIDN KHKHM LALAO MMMMR MYMYS PHPHL SGSGP THTHA TLTLS VNVNM"),
        "Southern Asia": "AFAFG BDBGD BTBTN ININD IRIRN LKLKA MVMDV NPNPL PKPAK",
        "Western Asia": (
            "AEARE AMARM AZAZE BHBHR CYCYP GEGEO ILISR IQIRQ JOJOR KWKWT LBLBN OMOMN PSPSE "
            "QAQAT SASAU SYSYR TRTUR YEYEM"
        ),
    },
    "Europe": {
        "Eastern Europe": "BGBGR BYBLR CZCZE HUHUN MDMDA PLPOL ROROU RURUS SKSVK UAUKR",
        "Northern Europe": (
            "AXALA DKDNK EEEST FIFIN FOFRO GBGBR GGGGY IEIRL IMIMN ISISL JEJEY LTLTU LVLVA "
            "NONOR SESWE SJSJM"
        ),
        "Southern Europe": (
            "ADAND ALALB BABIH ESESP GIGIB GRGRC HRHRV ITITA MEMNE MKMKD MTMLT PTPRT RSSRB "
            "SISVN SMSMR VAVAT"
        ),
        "Western Europe": "ATAUT BEBEL CHCHE DEDEU FRFRA LILIE LULUX MCMCO NLNLD",
    },
    "Oceania": {
        "Australia and New Zealand": "AUAUS CCCCK CXCXR HMHMD NFNFK NZNZL",
        "Melanesia": "FJFJI NCNCL PGPNG SBSLB VUVUT",
        "Micronesia": "FMFSM GUGUM KIKIR MHMHL MPMNP NRNRU PWPLW UMUMI",
        "Polynesia": "ASASM CKCOK NUNIU PFPYF PNPCN TKTKL TOTON TVTUV WFWLF WSWSM",
    },
    "Antarctica": {
        "Antarctica": "AQATA",
    },
}


def places_of_countries() -> dict[str, tuple[str, str]]:
    """The subregion and the region of every country, by either of its codes."""
    return {
        code: (subregion, region)
        for region, subregions in REGIONS.items()
        for subregion, countries in subregions.items()
        for both in countries.split()
        for code in (both[:2], both[2:])
    }
